/** Why an attempt has failed, in words for the webhook's log. */
import type { AttemptResult, ErrorClass } from "../../delivery/port/webhook-request.ts";

export type Verdict = Pick<AttemptResult, "outcome" | "errorClass" | "error">;
export const failed = (errorClass: ErrorClass, error: string): Verdict => ({
  outcome: "failed",
  errorClass,
  error,
});

/** The statuses by which Cloudflare's proxy reports that it could not reach the receiver. */
export const PROXY_ERRORS: Readonly<Record<number, ErrorClass>> = {
  520: "connect",
  521: "connect",
  522: "timeout",
  523: "connect",
  524: "timeout",
  525: "tls",
  526: "tls",
  530: "dns",
};

export const MESSAGES = {
  dns: "The receiver's host name could not be resolved",
  connect: "The connection to the receiver failed or was lost",
  tls: "A secure connection to the receiver could not be established",
  timeout: "The receiver did not respond in time",
} as const;

export const isNetworkError = (errorClass: ErrorClass): errorClass is keyof typeof MESSAGES =>
  errorClass in MESSAGES;

/** Why a request failed, by the error messages of Workers, local workerd and Node. */
export function judgeError(error: unknown, hasTimedOut: boolean): Verdict {
  if (hasTimedOut) return failed("timeout", MESSAGES.timeout);
  const text = errorText(error);
  if (/\bdns\b|lookup|resolve|ENOTFOUND|EAI_/i.test(text)) return failed("dns", MESSAGES.dns);
  if (/\b(tls|ssl|cert|certificate)\b|ERR_SSL/i.test(text)) return failed("tls", MESSAGES.tls);
  return failed("connect", MESSAGES.connect);
}

const errorText = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${"code" in error ? error.code : ""} ${errorText(error.cause)}`
    : "";
