/** Clients of live rooms and inboxes, and requests of the organization. */
import { type RawData, WebSocket } from "ws";
import { CommandError } from "../../../src/cli/process/command.ts";
import type { Organization } from "./organization.ts";

let nextAddress = 0;

/** An address for each client: a room limits the connections of one. */
function freshAddress(): string {
  nextAddress += 1;
  return `198.${18 + (nextAddress >> 16)}.${(nextAddress >> 8) & 255}.${nextAddress & 255}`;
}

export interface Joined {
  readonly socket: WebSocket;
  readonly ms: number;
  /** When the service closed it (by `performance.now`). */
  readonly closed: Promise<number>;
}

/** Joins a room, or an inbox, with a token. Rejects when that is refused. */
export async function join(
  origin: string,
  { accountId }: Pick<Organization, "accountId">,
  path: string,
  token: string,
): Promise<Joined> {
  const startedAt = performance.now();
  const type = path.startsWith("inbox") ? "INBOX_JOIN" : "JOIN_ROOM";
  const url = `${origin.replace("http", "ws")}/v1/accounts/${accountId}/${path}`;
  const socket = new WebSocket(url, { headers: { "CF-Connecting-IP": freshAddress() } });
  const closed = new Promise<number>((resolve) => {
    socket.on("close", () => resolve(performance.now()));
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (why: string) => reject(new CommandError(`A join was refused: ${why}`));
    socket.on("open", () => socket.send(JSON.stringify({ type, data: { token } })));
    const read = (data: RawData) => {
      const { success } = JSON.parse(String(data)) as { readonly success?: boolean };
      if (success === undefined) return;
      socket.off("message", read);
      if (success) resolve();
      else refuse(String(data));
    };
    socket.on("message", read);
    socket.on("error", ({ message }) => refuse(message));
    socket.on("close", (code, reason) => refuse(`${code} ${reason}`));
  });
  return { socket, ms: performance.now() - startedAt, closed };
}

export type Caller = <Data>(method: string, path: string, body?: object) => Promise<Data>;

/** Makes requests as the organization, or with a token. Rejects when one is refused. */
export const callerOf =
  (
    origin: string,
    { accountId, headers }: Pick<Organization, "accountId" | "headers">,
    token?: string,
  ): Caller =>
  async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const authorization = token === undefined ? headers : { Authorization: `Bearer ${token}` };
    const send = () =>
      fetch(`${origin}/v1/accounts/${accountId}${path}`, {
        method,
        headers: { ...authorization, "Content-Type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    // The service may close a connection that was idle at the same moment.
    const response = await (method === "GET" ? send().catch(send) : send());
    const answer = (await response.json()) as { readonly data: Data; readonly success: boolean };
    if (!answer.success) throw new CommandError(`${method} ${path} was refused: ${JSON.stringify(answer)}`);
    return answer.data;
  };

export async function inGroups<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  return results;
}

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;

export const numbers = (length: number): number[] => Array.from({ length }, (_, at) => at);
