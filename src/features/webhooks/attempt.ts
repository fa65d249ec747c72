/** One attempt to deliver an event to a webhook: signs, sends, and judges the response, within 15 seconds in all. */

import { parseRetryAfter } from "@atrium/contract/pacing/backoff.ts";
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import type {
  AttemptResult,
  Destination,
  ErrorClass,
  WebhookMessage,
} from "../../delivery/subscriber/handler.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { signatureHeaders } from "../../platform/crypto/standard-webhooks.ts";
import { findTargetProblem } from "../../platform/network.ts";
import { commonTrace, readTrace, type Trace } from "../../platform/trace.ts";

/** Names of headers that may have a secret: credentials, cookies and signatures. */
const SECRET = /auth|cookie|csrf|key|password|secret|session|signature|token/i;
const MAX_HEADERS = 30;
const MAX_VALUE_LENGTH = 256;
const MAX_CHARACTERS = 2_048;

/** Headers that may be shown, as far as they fit, with names in lower case. */
export function loggedHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  const kept = [...headers]
    .filter(([name]) => !SECRET.test(name))
    .map(([name, value]) => [name.toLowerCase(), value.slice(0, MAX_VALUE_LENGTH)] as const)
    .slice(0, MAX_HEADERS);
  let characters = 0;
  const end = kept.findIndex(([name, value]) => {
    characters += name.length + value.length;
    return characters > MAX_CHARACTERS;
  });
  return Object.fromEntries(end === -1 ? kept : kept.slice(0, end));
}

type Verdict = Pick<AttemptResult, "outcome" | "errorClass" | "error">;
const failed = (errorClass: ErrorClass, error: string): Verdict => ({
  outcome: "failed",
  errorClass,
  error,
});

/** The statuses by which Cloudflare's proxy reports that it could not reach the receiver. */
const PROXY_ERRORS: Readonly<Record<number, keyof typeof MESSAGES>> = {
  520: "connect",
  521: "connect",
  522: "timeout",
  523: "connect",
  524: "timeout",
  525: "tls",
  526: "tls",
  530: "dns",
};

const MESSAGES = {
  dns: "The receiver's host name could not be resolved",
  // Workers say no more of a connection that was refused than of one that was lost.
  connect: "The receiver refused the connection, or ended it without a response",
  tls: "A secure connection to the receiver could not be established",
  timeout: "The receiver did not respond in time",
} as const;

const REFUSED = "The receiver refused the connection";

/** Why a request failed, by the error messages of Workers, local workerd and Node. */
function judgeError(error: unknown, hasTimedOut: boolean): Verdict {
  if (hasTimedOut) return failed("timeout", MESSAGES.timeout);
  const text = errorText(error);
  if (/\bdns\b|lookup|resolve|ENOTFOUND|EAI_/i.test(text)) return failed("dns", MESSAGES.dns);
  if (/\b(tls|ssl|cert|certificate)\b|ERR_SSL/i.test(text)) return failed("tls", MESSAGES.tls);
  return failed("connect", /refused/i.test(text) ? REFUSED : MESSAGES.connect);
}

const errorText = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${"code" in error ? error.code : ""} ${errorText(error.cause)}`
    : "";

/** Timeout of a whole attempt: connecting, sending, and reading the response. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Names the replay that sends an event again. */
const REPLAY_HEADER = "Atrium-Replay";

/** Header with the ID of the request that caused the event, to quote when asking about it. */
const REQUEST_HEADER = "Atrium-Request-Id";

/** Trace headers, which are not signed: receivers verify the same content as before. */
const traceHeaders = ({ requestId, traceparent }: Trace): Record<string, string> => ({
  [REQUEST_HEADER]: requestId,
  ...(traceparent === undefined ? {} : { traceparent }),
});

interface AttemptPorts {
  readonly fetch: typeof fetch;
  now(): number;
  readonly timeoutMs?: number;
}

const DELIVERED: Verdict = { outcome: "delivered", errorClass: null, error: null };

function judgeStatus(status: number): Verdict {
  if (status >= 200 && status < 300) return DELIVERED;
  const proxyError = PROXY_ERRORS[status];
  if (proxyError !== undefined) return failed(proxyError, status === 521 ? REFUSED : MESSAGES[proxyError]);
  if (status >= 300 && status < 400)
    return failed("redirect", `The receiver answered with a redirect (${status}), which is not followed`);
  const verdict = failed("status", `The receiver answered ${status}`);
  return status === 410 ? { ...verdict, outcome: "gone" } : verdict;
}

/** A complete response is judged by its status. An incomplete one may have meant anything, so it has failed. */
function judgeResponse(status: number, end: ResponseBody["end"]): Verdict {
  if (end === "timeout") return failed("timeout", MESSAGES.timeout);
  if (end === "broken") return failed("body", "The receiver's response broke off");
  return judgeStatus(status);
}

/** Sends the message once. Every failure of the receiver or of the way to it is a result. */
export async function attempt(
  destination: Destination,
  { id, body, replayId, trace }: WebhookMessage,
  ports: AttemptPorts,
): Promise<AttemptResult> {
  const startedAt = ports.now();
  let requestHeaders: AttemptResult["requestHeaders"] = null;
  const withoutResponse = (verdict: Verdict): AttemptResult => ({
    ...verdict,
    statusCode: null,
    answer: null,
    requestHeaders,
    responseHeaders: null,
    durationMs: ports.now() - startedAt,
    retryAfterMs: null,
  });
  const problem = findTargetProblem(destination.url, destination);
  if (problem !== null) return withoutResponse(failed("target", `The URL ${problem}`));

  const deadline = AbortSignal.timeout(ports.timeoutMs ?? ATTEMPT_TIMEOUT_MS);
  const message = { id, timestampSeconds: Math.floor(startedAt / 1000), body };
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Atrium-Webhooks/1",
    ...(await signatureHeaders(message, destination.secrets)),
    ...(replayId === null ? {} : { [REPLAY_HEADER]: replayId }),
    ...(trace && traceHeaders(trace)),
  };
  requestHeaders = loggedHeaders(Object.entries(headers));
  const request: RequestInit = { method: "POST", headers, body, redirect: "manual", signal: deadline };
  const { fetch } = ports;
  let response: Response;
  try {
    response = await fetch(destination.url, request);
  } catch (error) {
    return withoutResponse(judgeError(error, deadline.aborted));
  }
  const { text, end } = await readBody(response, deadline);
  const verdict = judgeResponse(response.status, end);
  return {
    ...verdict,
    statusCode: response.status,
    answer: text,
    requestHeaders,
    responseHeaders: loggedHeaders(response.headers),
    durationMs: ports.now() - startedAt,
    retryAfterMs:
      verdict.outcome === "failed" ? parseRetryAfter(response.headers.get("Retry-After"), ports.now()) : null,
  };
}

const MAX_READ_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 4 * 1024;

interface ResponseBody {
  readonly text: string;
  /** The end of the read; `whole` includes a body that was longer than the bound. */
  readonly end: "whole" | "timeout" | "broken";
}

const TIMED_OUT = Symbol("timed out");

const expiry = (deadline: AbortSignal): Promise<typeof TIMED_OUT> =>
  new Promise((resolve) => {
    if (deadline.aborted) resolve(TIMED_OUT);
    else deadline.addEventListener("abort", () => resolve(TIMED_OUT), { once: true });
  });

/** Reads the response's body; never rejects. Closes the connection when the body exceeds the limit. */
async function readBody({ body }: Response, deadline: AbortSignal): Promise<ResponseBody> {
  if (body === null) return { text: "", end: "whole" };
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const expired = expiry(deadline);
  const kept: Uint8Array[] = [];
  let read = 0;
  const ended = (end: ResponseBody["end"]): ResponseBody => ({ text: decode(kept), end });
  try {
    while (read < MAX_READ_BYTES) {
      const next = await Promise.race([reader.read(), expired]);
      if (next === TIMED_OUT) return ended("timeout");
      if (next.done) return ended("whole");
      if (read < MAX_KEPT_BYTES) kept.push(next.value.slice(0, MAX_KEPT_BYTES - read));
      read += next.value.byteLength;
    }
    return ended("whole");
  } catch {
    return ended(deadline.aborted ? "timeout" : "broken");
  } finally {
    reader.cancel().catch(() => {}); // the receiver may have closed the connection already
  }
}

/** The bytes as text, without a character that was cut off at the end. */
function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
}

type Sent = Pick<OutgoingEvent, "eventId" | "body" | "trace"> & { readonly replayId: string | null };

export const messageOf = ({ eventId, body, replayId, trace }: Sent): WebhookMessage => ({
  id: eventId,
  body,
  replayId,
  trace: readTrace(trace),
});

/** A batch of one event is an array too: a receiver of batches needs to know one form only. */
export async function batchOf(events: readonly [Sent, ...Sent[]]): Promise<WebhookMessage> {
  const ids = events.map(({ eventId }) => eventId);
  const hash = await sha256(new TextEncoder().encode(ids.join()));
  return {
    id: `batch_${hash.slice(0, 32)}`,
    body: `[${events.map(({ body }) => body).join()}]`,
    replayId: events[0].replayId,
    trace: commonTrace(events.map(({ trace }) => trace)),
  };
}
