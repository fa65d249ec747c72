/** Speaks to the service as its operator, about one organization or the deployment. */
import { setTimeout as pause } from "node:timers/promises";
import { SIGNATURE_HEADER } from "../../features/backup/format.ts";
import type { OperatorPurpose } from "../../features/backup/table.ts";
import { backoffMs } from "../../platform/flow/backoff.ts";
import { CommandError } from "../process/command.ts";
import type { SignedText } from "./archive-folder.ts";
import type { OperatorToken } from "./operator-token.ts";

const MAX_ATTEMPTS = 8;
const BACKOFF = { firstMs: 1_000, maxMs: 30_000 };
const HINT = " Is it running? Name its address by --url, then run this again: it continues.";

export interface OperatorOptions {
  /** Of an organization, or `DEPLOYMENT`. */
  readonly accountId: string;
  readonly purpose: OperatorPurpose;
  /** Of the service, such as `https://atrium.example`. */
  readonly url: string;
  /** For that, or for the whole deployment. */
  readonly token: OperatorToken;
  readonly stop: AbortSignal;
  /** Says why the next request waits for seconds. */
  readonly show: (line: string) => void;
}

/** What a request has: JSON, or bytes with the headers and parameters that belong to them. */
export interface OperatorRequest {
  readonly json?: object;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

/** Speaks about an organization or the deployment, and shows what that waits for. */
export type ClientOf = (accountId: string, show: (line: string) => void) => OperatorClient;

/** What a backup has, as a request of its restore. */
export const signedRequest = (
  { signature, text }: SignedText,
  query: OperatorRequest["query"] = {},
): OperatorRequest => ({
  bytes: new TextEncoder().encode(text),
  query,
  headers: { [SIGNATURE_HEADER]: signature },
});

export class OperatorClient {
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  /** The answer to an operation; null for NOT_FOUND where `mayBeGone` says so. What passes with time is tried again. */
  async send(operation: string, request: OperatorRequest, mayBeGone: true): Promise<Response | null>;
  async send(operation: string, request?: OperatorRequest): Promise<Response>;
  async send(operation: string, request: OperatorRequest = {}, mayBeGone = false): Promise<Response | null> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#options.token.current();
      const response = await this.#try(operation, request, token);
      if (response instanceof Response && response.ok) return response;
      // Another request has renewed the token meanwhile.
      if (isUnauthorized(response) && token !== (await this.#options.token.current())) continue;
      const { retryAfterMs, why } = await reasonOf(response, this.#options.url);
      if (mayBeGone && response instanceof Response && response.status === 404) return null;
      if (retryAfterMs === null || attempt === MAX_ATTEMPTS)
        throw new CommandError(`${why}${response instanceof Error ? HINT : ""}`);
      const ms = Math.min(BACKOFF.maxMs, Math.max(retryAfterMs, backoffMs(attempt, BACKOFF)));
      if (retryAfterMs > 0 || response instanceof Error) this.#options.show(`${why} Waiting …`);
      await pause(ms, undefined, { signal: this.#options.stop });
    }
  }

  /** `data` of the answer. */
  async data<Data>(operation: string, request: OperatorRequest = {}): Promise<Data> {
    const response = await this.send(operation, request);
    return ((await response.json()) as { data: Data }).data;
  }

  /** The answer to an operation that signs it. */
  async signed(operation: string, json: object): Promise<SignedText> {
    const response = await this.send(operation, { json });
    return { signature: response.headers.get(SIGNATURE_HEADER) ?? "", text: await response.text() };
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

const isUnauthorized = (response: Response | Error): boolean =>
  response instanceof Response && response.status === 401;

/** Why a request failed, and when to send it again; null for never. */
async function reasonOf(
  response: Response | Error,
  url: string,
): Promise<{ retryAfterMs: number | null; why: string }> {
  if (response instanceof Error)
    return { retryAfterMs: 0, why: `The service at ${url} does not answer: ${response.message}.` };
  const refusal = (await response.json().catch(() => null)) as Refusal | null;
  const seconds = Number(response.headers.get("Retry-After") ?? 0);
  const why = refusal?.error?.message ?? `The service answered with the status ${response.status}`;
  return {
    retryAfterMs: response.status === 429 || response.status >= 500 ? seconds * 1000 : null,
    why: `${why}.`,
  };
}
