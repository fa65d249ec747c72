/** Requests of the Durable Streams protocol, with a credential that is renewed once it is refused. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { pause, type Signals, untilAborted } from "../core/aborting.ts";
import { AtriumError, type AtriumErrorCode, clientFault, type Fault } from "../core/error.ts";
import { isRecord } from "../core/json.ts";

/** A room's streams as one credential reaches them. */
export abstract class Endpoint {
  /** Requests end once one of them is aborted. */
  readonly signals: Signals = [];

  /** The value of `Authorization`; null where the browser sends a cookie instead. */
  abstract authorization(signal: AbortSignal): Promise<string | null>;
  /** The address of the room, once its credential is known. Throws NOT_JOINED until then. */
  abstract urlOf(name: string): string;
  /** The service has refused the credential. Returns whether there can be another one. */
  abstract renew(): boolean;
  abstract fetch(url: string, init: RequestInit): Promise<Response>;
  /** The module of errors whose answers do not say theirs. */
  readonly module: string = "Streams";
  /** The subject of an error: the stream, or whatever else is read. */
  subjectOf(name: string): string {
    return `Stream ${JSON.stringify(name)}`;
  }
  random(): number {
    return Math.random();
  }
}

export interface StreamRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** A function is called once the address of the room is known. */
  readonly headers?: Readonly<Record<string, string>> | (() => Record<string, string>);
  /** In the order of their names, which caches prefer. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | null;
  readonly cache?: RequestCache;
}

/** The result of an attempt, or its error with the headers of the answer; null without an answer. */
export type Attempt<Result> =
  | { readonly result: Result; readonly error: null }
  | { readonly error: AtriumError; readonly headers: Headers | null };

const RETRY_BACKOFF = { firstMs: 250, maxMs: 10_000 };
const MAX_RETRIES = 3;
const TIMEOUT_MS = 30_000;

/** Errors of answers that do not say theirs: those to `HEAD`, which have no body, and those of proxies. */
const ERRORS: Readonly<Record<number, readonly [code: AtriumErrorCode, what: string]>> = {
  401: ["UNAUTHORIZED", "needs another credential: this one is invalid, or has ended"],
  403: ["FORBIDDEN", "may not be used with this credential"],
  404: ["NOT_FOUND", "not found: create() it first"],
  409: ["CONFLICT", "is in another state"],
  410: ["GONE", "was deleted while forks read it: choose another name"],
  429: ["RATE_LIMITED", "got too many requests"],
};

async function errorOf(response: Response, endpoint: Endpoint, name: string): Promise<AtriumError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const { error, requestId }: { error?: unknown; requestId?: string } = Object(body);
  if (isRecord(error)) return new AtriumError(error as unknown as Fault, requestId);
  const other = status < 500 && status !== 408 ? "BAD_REQUEST" : "UNREACHABLE";
  const [code, what] = ERRORS[status] ?? [other, `answered ${status}`];
  const message = `${endpoint.subjectOf(name)} ${what}`;
  return new AtriumError({ ...clientFault(code, message), module: endpoint.module });
}

/** One attempt. `read` is given an answer of success. Throws the reason of an aborted signal alone. */
export async function attempt<Result>(
  endpoint: Endpoint,
  name: string,
  { method, query, headers, ...request }: StreamRequest,
  signal: AbortSignal,
  read: (response: Response) => Result | Promise<Result>,
): Promise<Attempt<Result>> {
  let isRenewed = false;
  try {
    for (;;) {
      const authorization = await endpoint.authorization(signal);
      const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
      const response = await endpoint.fetch(endpoint.urlOf(name) + search, {
        ...{ method, signal, ...request },
        headers: {
          ...(typeof headers === "function" ? headers() : headers),
          ...(authorization !== null && { Authorization: authorization }),
        },
      });
      if (response.ok) return { result: await read(response), error: null };
      const error = await errorOf(response, endpoint, name);
      if (response.status !== 401 || isRenewed || !endpoint.renew())
        return { error, headers: response.headers };
      isRenewed = true;
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AtriumError) return { error: cause, headers: null };
    const fault = clientFault(
      "UNREACHABLE",
      `${endpoint.subjectOf(name)} could not be reached: ${String(cause)}`,
    );
    return { error: new AtriumError(fault, undefined, { cause }), headers: null };
  }
}

/** The same, which fails as unreachable after `timeoutMs`. */
export async function timed<Result>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Attempt<Result>>,
  timeoutMs = TIMEOUT_MS,
): Promise<Attempt<Result>> {
  try {
    return await untilAborted([signal, AbortSignal.timeout(timeoutMs)], work);
  } catch (cause) {
    signal.throwIfAborted();
    const fault = clientFault("UNREACHABLE", "The stream did not answer in time");
    return { error: new AtriumError(fault, undefined, { cause }), headers: null };
  }
}

/** Waits as long as the answer asks for, or with backoff. */
export function waitAfter(
  endpoint: Endpoint,
  failures: number,
  headers: Headers | null,
  signal: AbortSignal,
): Promise<void> {
  const asked = Number(headers?.get("Retry-After") ?? Number.NaN) * 1000;
  const delayMs = asked >= 0 ? asked : backoffMs(failures, RETRY_BACKOFF, endpoint.random());
  return pause(delayMs, signal);
}

/** The signals that end a request, and its retries after temporary failures. */
export interface Patience {
  readonly signals?: Signals;
  readonly maxRetries?: number;
}

/** A request that may be repeated. */
export function ask<Result>(
  endpoint: Endpoint,
  name: string,
  request: StreamRequest,
  read: (response: Response) => Result | Promise<Result>,
  { signals = endpoint.signals, maxRetries = MAX_RETRIES }: Patience = {},
): Promise<Result> {
  return untilAborted(signals, async (signal) => {
    for (let failures = 1; ; failures += 1) {
      const tried = await timed(signal, (ends) => attempt(endpoint, name, request, ends, read));
      if (tried.error === null) return tried.result;
      const isDeleted =
        request.method === "DELETE" && failures > 1 && ["NOT_FOUND", "GONE"].includes(tried.error.code);
      if (isDeleted) return read(new Response()); // an earlier attempt has deleted it
      if (failures > maxRetries || !tried.error.retryable) throw tried.error;
      await waitAfter(endpoint, failures, tried.headers, signal);
    }
  });
}
