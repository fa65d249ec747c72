/** Speaks to the service as its operator, about one organization or the deployment. */
import { setTimeout as pause } from "node:timers/promises";
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { HEADERS, type ListedOrganization } from "../../features/backup/format.ts";
import { createOperatorToken, operatorTokenHash } from "../../features/backup/statements.ts";
import type { OperatorPurpose } from "../../features/backup/table.ts";
import { CommandError } from "../process/command.ts";
import type { SignedText } from "./archive-folder.ts";

const MAX_ATTEMPTS = 8;
const BACKOFF = { firstMs: 1_000, maxMs: 30_000 };
const HINT = " Is it running? Name its address by --url, then run this again: it continues.";

/** The lifetime of a token. The command that has it writes another one before. */
const OPERATOR_TOKEN_LIFETIME_MS = 60 * 60 * 1000;

/**
 * Returns the operator's current token: a hash in the database proves that the command may write there. `write` gets the
 * hash and its end in epoch ms, first and before each end; the token itself would be in the process list.
 */
export function operatorToken(
  write: (hash: string, expiresAt: number) => Promise<void>,
): () => Promise<string> {
  let token: Promise<string> = Promise.resolve("");
  let renewAt = 0;
  const renew = async (): Promise<string> => {
    const created = createOperatorToken();
    try {
      await write(await operatorTokenHash(created), Date.now() + OPERATOR_TOKEN_LIFETIME_MS);
    } catch (error) {
      renewAt = 0;
      throw error;
    }
    return created;
  };
  return () => {
    if (Date.now() > renewAt) {
      renewAt = Date.now() + (3 * OPERATOR_TOKEN_LIFETIME_MS) / 4;
      token = renew();
    }
    return token;
  };
}

interface OperatorOptions {
  /** An organization's, or `DEPLOYMENT`. */
  readonly accountId: string;
  readonly purpose: OperatorPurpose;
  /** The service's, such as `https://atrium.example`. */
  readonly url: string;
  readonly token: () => Promise<string>;
  readonly stop: AbortSignal;
  /** Receives the reason of a wait of seconds. */
  readonly show: (line: string) => void;
}

interface OperatorRequest {
  readonly json?: object;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ClientOf = (accountId: string, show: (line: string) => void) => OperatorClient;

/** A signed part of a backup, as a request of its restore. */
export const signedRequest = (
  { signature, text }: SignedText,
  query: OperatorRequest["query"] = {},
): OperatorRequest => ({
  bytes: new TextEncoder().encode(text),
  query,
  headers: { [HEADERS.signature]: signature },
});

export async function findOrganization(
  client: OperatorClient,
  id: string,
): Promise<ListedOrganization | null> {
  type Found = { readonly organization: ListedOrganization | null };
  return (await client.data<Found>("organization", { json: { id } })).organization;
}

export class OperatorClient {
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  /** Retries temporary failures. Returns null for NOT_FOUND if `mayBeGone`. */
  async send(operation: string, request: OperatorRequest, mayBeGone: true): Promise<Response | null>;
  async send(operation: string, request?: OperatorRequest): Promise<Response>;
  async send(operation: string, request: OperatorRequest = {}, mayBeGone = false): Promise<Response | null> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#options.token();
      const response = await this.#try(operation, request, token);
      if (response instanceof Response && response.ok) return response;
      // Another request has renewed the token meanwhile.
      const isUnauthorized = response instanceof Response && response.status === 401;
      if (isUnauthorized && token !== (await this.#options.token())) continue;
      const { retryAfterMs, why } = await reasonOf(response, this.#options.url);
      if (mayBeGone && response instanceof Response && response.status === 404) return null;
      if (retryAfterMs === null || attempt === MAX_ATTEMPTS)
        throw new CommandError(`${why}${response instanceof Error ? HINT : ""}`);
      const ms = Math.min(BACKOFF.maxMs, Math.max(retryAfterMs, backoffMs(attempt, BACKOFF)));
      if (retryAfterMs > 0 || response instanceof Error) this.#options.show(`${why} Waiting …`);
      await pause(ms, undefined, { signal: this.#options.stop });
    }
  }

  async data<Data>(operation: string, request: OperatorRequest = {}): Promise<Data> {
    const response = await this.send(operation, request);
    return ((await response.json()) as { data: Data }).data;
  }

  async signed(operation: string, json: object): Promise<SignedText> {
    const response = await this.send(operation, { json });
    return { signature: response.headers.get(HEADERS.signature) ?? "", text: await response.text() };
  }

  async #try(
    operation: string,
    { json, bytes, query = {}, headers = {} }: OperatorRequest,
    token: string,
  ): Promise<Response | Error> {
    const { accountId, purpose, stop, url } = this.#options;
    const address = new URL(`/operator/${purpose}/${accountId}/${operation}`, url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const type = bytes === undefined ? "application/json" : "application/octet-stream";
    try {
      return await fetch(address, {
        method: "POST",
        headers: { ...headers, Authorization: `Bearer ${token}`, "Content-Type": type },
        body: bytes ?? JSON.stringify(json ?? {}),
        signal: stop,
      });
    } catch (error) {
      stop.throwIfAborted();
      return error as Error;
    }
  }
}

/** The reason of a failure, and the wait before the next attempt; null for none. */
async function reasonOf(
  response: Response | Error,
  url: string,
): Promise<{ retryAfterMs: number | null; why: string }> {
  if (response instanceof Error)
    return { retryAfterMs: 0, why: `The service at ${url} does not answer: ${response.message}.` };
  const refusal = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  const seconds = Number(response.headers.get("Retry-After") ?? 0);
  const why = refusal?.error?.message ?? `The service answered with the status ${response.status}`;
  return {
    retryAfterMs: response.status === 429 || response.status >= 500 ? seconds * 1000 : null,
    why: `${why}.`,
  };
}
