/** One attempt to deliver an event: signed, sent, and judged by what comes back, within 15 seconds in all. */
import type { OutgoingEvent } from "../delivery/port/subscriber-port.ts";
import { type ReceiverResponse, readResponse } from "./read-response.ts";
import { signatureHeaders } from "./sign.ts";
import { findTargetProblem, type TargetPolicy } from "./target.ts";

/** For everything: the connection, the request, and as much of the answer as is read. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Where an attempt goes, and what signs it: the newest secret first. */
export interface Destination extends TargetPolicy {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** What an attempt needs of its surroundings. */
export interface DeliveryPorts {
  readonly fetch: typeof fetch;
  /** Epoch milliseconds. */
  now(): number;
  /** {@link ATTEMPT_TIMEOUT_MS} when left out. */
  readonly timeoutMs?: number;
}

/** The stage at which an attempt failed. */
export type ErrorClass =
  /** The address is none that may be sent to (any more); nothing was sent. */
  | "target"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  /** The receiver answered with a redirect, which is not followed. */
  | "redirect"
  /** It answered with another status than 2xx. */
  | "status"
  /** Its answer broke off. */
  | "body";

export interface AttemptResult {
  /** `gone`: the receiver wants no more deliveries (410). */
  readonly outcome: "delivered" | "gone" | "failed";
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  /** For the customer's eyes. */
  readonly error: string | null;
  /** The start of what the receiver answered. */
  readonly answer: string | null;
  readonly durationMs: number;
  /** How long the receiver asks to wait before the next attempt. */
  readonly retryAfterMs: number | null;
}

type Verdict = Pick<AttemptResult, "outcome" | "errorClass" | "error">;

const DELIVERED: Verdict = { outcome: "delivered", errorClass: null, error: null };
const failed = (errorClass: ErrorClass, error: string): Verdict => ({ outcome: "failed", errorClass, error });

/** What Cloudflare answers in a receiver's place when it does not reach it. */
const UNREACHED: Readonly<Record<number, ErrorClass>> = {
  520: "connect",
  521: "connect",
  522: "timeout",
  523: "connect",
  524: "timeout",
  525: "tls",
  526: "tls",
  530: "dns",
};

const SENTENCES = {
  dns: "The receiver's name could not be resolved",
  connect: "No connection to the receiver could be made, or it was lost",
  tls: "No secure connection to the receiver could be made",
  timeout: "The receiver took too long",
} as const;

const isUnmet = (errorClass: ErrorClass): errorClass is keyof typeof SENTENCES => errorClass in SENTENCES;

function judgeStatus(status: number): Verdict {
  if (status >= 200 && status < 300) return DELIVERED;
  const unreached = UNREACHED[status];
  if (unreached !== undefined && isUnmet(unreached)) return failed(unreached, SENTENCES[unreached]);
  if (status >= 300 && status < 400)
    return failed("redirect", `The receiver answered with a redirect (${status}), which is not followed`);
  const verdict = failed("status", `The receiver answered ${status}`);
  return status === 410 ? { ...verdict, outcome: "gone" } : verdict;
}

/** A whole answer is judged by its status; what a broken one meant nobody knows, so it is tried again. */
function judgeAnswer(status: number, end: ReceiverResponse["end"]): Verdict {
  if (end === "timeout") return failed("timeout", SENTENCES.timeout);
  if (end === "broken") return failed("body", "The receiver's answer broke off");
  return judgeStatus(status);
}

/** What kept a request from being answered, by what the runtimes say: a Worker, its local one, Node. */
function judgeThrown(error: unknown, hasTimedOut: boolean): Verdict {
  if (hasTimedOut) return failed("timeout", SENTENCES.timeout);
  const said = errorText(error);
  if (/\bdns\b|lookup|resolve|ENOTFOUND|EAI_/i.test(said)) return failed("dns", SENTENCES.dns);
  if (/\b(tls|ssl|cert|certificate)\b|ERR_SSL/i.test(said)) return failed("tls", SENTENCES.tls);
  return failed("connect", SENTENCES.connect);
}

const errorText = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${"code" in error ? error.code : ""} ${errorText(error.cause)}`
    : "";

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A `Retry-After` of seconds or a date in milliseconds from now; null when it says nothing. */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER);
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Sends the event once. Whatever happens is a result: it never throws. */
export async function attempt(
  destination: Destination,
  { eventId, body }: Pick<OutgoingEvent, "eventId" | "body">,
  ports: DeliveryPorts,
): Promise<AttemptResult> {
  const startedAt = ports.now();
  const unanswered = (verdict: Verdict): AttemptResult => ({
    ...verdict,
    statusCode: null,
    answer: null,
    durationMs: ports.now() - startedAt,
    retryAfterMs: null,
  });
  const problem = findTargetProblem(destination.url, destination);
  if (problem !== null) return unanswered(failed("target", `The address ${problem}`));

  const deadline = AbortSignal.timeout(ports.timeoutMs ?? ATTEMPT_TIMEOUT_MS);
  try {
    const message = { id: eventId, timestampSeconds: Math.floor(startedAt / 1000), body };
    const { fetch } = ports;
    const response = await fetch(destination.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "Atrium-Webhooks/1",
        ...(await signatureHeaders(message, destination.secrets)),
      },
      body,
      redirect: "manual",
      signal: deadline,
    });
    const { text, end } = await readResponse(response, deadline);
    const verdict = judgeAnswer(response.status, end);
    return {
      ...verdict,
      statusCode: response.status,
      answer: text,
      durationMs: ports.now() - startedAt,
      retryAfterMs:
        verdict.outcome === "failed"
          ? parseRetryAfter(response.headers.get("Retry-After"), ports.now())
          : null,
    };
  } catch (error) {
    return unanswered(judgeThrown(error, deadline.aborted));
  }
}
