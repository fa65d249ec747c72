/** One attempt to deliver an event to a webhook: signs, sends, and judges the response, within 15 seconds in all. */
import type { AttemptResult, Destination, WebhookMessage } from "../../delivery/port/webhook-request.ts";
import { signatureHeaders } from "../../platform/crypto/standard-webhooks.ts";
import { parseRetryAfter } from "../../platform/flow/backoff.ts";
import { type ResponseBody, readBody } from "../../platform/response-body.ts";
import { findTargetProblem } from "../../platform/target.ts";
import type { Trace } from "../../platform/trace.ts";
import {
  failed,
  isNetworkError,
  judgeError,
  MESSAGES,
  PROXY_ERRORS,
  type Verdict,
} from "./failed-attempt.ts";
import { loggedHeaders } from "./logged-headers.ts";

/** For all of it: connecting, sending, and reading the response. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Names the replay that sends an event again. */
export const REPLAY_HEADER = "Atrium-Replay";

/** Names the request that has caused the event: what the receiver quotes when it asks about it. */
const REQUEST_HEADER = "Atrium-Request-Id";

/** They are not signed: receivers verify what they did before. */
const traceHeaders = ({ requestId, traceparent }: Trace): Record<string, string> => ({
  [REQUEST_HEADER]: requestId,
  ...(traceparent === undefined ? {} : { traceparent }),
});

/** What an attempt needs from the platform. */
export interface AttemptPorts {
  readonly fetch: typeof fetch;
  /** Epoch milliseconds. */
  now(): number;
  /** {@link ATTEMPT_TIMEOUT_MS} by default. */
  readonly timeoutMs?: number;
}

const DELIVERED: Verdict = { outcome: "delivered", errorClass: null, error: null };

function judgeStatus(status: number): Verdict {
  if (status >= 200 && status < 300) return DELIVERED;
  const proxyError = PROXY_ERRORS[status];
  if (proxyError !== undefined && isNetworkError(proxyError)) return failed(proxyError, MESSAGES[proxyError]);
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

/** Sends the message once. Every failure is a result: it never rejects. */
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
  try {
    const message = { id, timestampSeconds: Math.floor(startedAt / 1000), body };
    const { fetch } = ports;
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": "Atrium-Webhooks/1",
      ...(await signatureHeaders(message, destination.secrets)),
      ...(replayId === null ? {} : { [REPLAY_HEADER]: replayId }),
      ...(trace && traceHeaders(trace)),
    };
    requestHeaders = loggedHeaders(Object.entries(headers));
    const response = await fetch(destination.url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: deadline,
    });
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
        verdict.outcome === "failed"
          ? parseRetryAfter(response.headers.get("Retry-After"), ports.now())
          : null,
    };
  } catch (error) {
    return withoutResponse(judgeError(error, deadline.aborted));
  }
}
