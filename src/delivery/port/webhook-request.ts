/** A request to a webhook's receiver, and its result, as objects pass them to each other. */
import type { TargetPolicy } from "../../platform/target.ts";
import type { Trace } from "../../platform/trace.ts";

/** The content of one request, without a signature yet. */
export type WebhookMessage = {
  /** The `webhook-id`: the same for each attempt of the same events. */
  readonly id: string;
  readonly body: string;
  /** The replay that sends the events again; null for none. */
  readonly replayId: string | null;
  /** Of the request behind all of its events; null or absent for none. */
  readonly trace?: Trace | null;
};

/** Where an attempt goes, and the secrets that sign it, the newest first. */
export interface Destination extends TargetPolicy {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** The stage at which an attempt failed. */
export type ErrorClass =
  /** The URL is not, or no longer, allowed; nothing was sent. */
  | "target"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  /** The receiver answered with a redirect; redirects are not followed. */
  | "redirect"
  /** It answered with a status other than 2xx. */
  | "status"
  /** Its response broke off. */
  | "body";

export type AttemptResult = {
  /** `gone`: the receiver answered 410 and wants no more deliveries. */
  readonly outcome: "delivered" | "gone" | "failed";
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  /** For the customer; null after a success. */
  readonly error: string | null;
  /** The start of the response's body. */
  readonly answer: string | null;
  readonly durationMs: number;
  /** Of the request, without its signature; null when none was sent. */
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  /** Of the response, without credentials and cookies; null without one. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The delay that the receiver asks for before the next attempt; null when it does not ask. */
  readonly retryAfterMs: number | null;
};
