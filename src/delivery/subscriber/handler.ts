/** The ports of a subscriber's object: the handler of its kind with its outcomes, quotas, and the event log. */
import type { TargetPolicy } from "../../platform/network.ts";
import type { Trace } from "../../platform/trace.ts";
import type { LogQuery, LogSlice } from "../event-log/log-page.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import type { LoggedAttempt } from "./delivery.ts";

export type DeliveryOutcome = FinalOutcome | SkippedOutcome;

/** An outcome that the delivery's record shows, and the cooldown of the subscriber after it (milliseconds). */
export type FinalOutcome = { readonly cooldownMs?: number } & (
  | { readonly type: "delivered"; readonly attempt: LoggedAttempt }
  /** Another attempt follows at `at` (epoch ms). */
  | {
      readonly type: "retry";
      readonly at: number;
      readonly attempt: LoggedAttempt;
      readonly error: string | null;
    }
  | { readonly type: "failed"; readonly attempt: LoggedAttempt | null; readonly error: string | null }
);

type SkippedOutcome =
  /** A request has disabled the subscriber: all that waits ends with `error`, or leaves no record when that is null. */
  | { readonly type: "disabled"; readonly error: string | null }
  /** The service has disabled the subscriber: all that waits is kept until it is enabled again. `why` is for the customer. */
  | { readonly type: "suspended"; readonly why: string }
  /** The service itself could not make an attempt. It tries again at `until` (epoch ms), or fails with `why`. */
  | { readonly type: "postponed"; readonly until: number; readonly why: string }
  /** The subscriber's row is gone, and everything that its object keeps with it. */
  | { readonly type: "orphaned" };

export type HandledEvent = OutgoingEvent & {
  readonly replayId: string | null;
  /** True when the attempt is never repeated, however it ends: it was marked as started. */
  readonly isOnce: boolean;
};

export interface DeliveryHandler {
  /**
   * Null when any attempt whose outcome is unknown may be repeated. Otherwise an attempt is marked as started, unless
   * {@link mayRepeat} allows to repeat it, and this is the error, for the customer, of a marked one that a crash cut off.
   */
  readonly interruption: string | null;
  /** True if the attempt that starts now may be repeated; absent where none may. Never rejects. */
  mayRepeat?(): Promise<boolean>;
  readonly timetable?: Timetable;
  readonly pace: Pace;
  readonly batch: BatchLimits | null;
  /**
   * Makes one attempt, of the event and the `others` of its batch, with one outcome for all of them; `attempts` were
   * made of each before it. Never rejects.
   */
  deliver(event: HandledEvent, attempts: number, others?: readonly HandledEvent[]): Promise<DeliveryOutcome>;
  /** Makes the handler refuse cached rows of a lower version from now on. */
  requireVersion(version: number): void;
  /** A person asks for attempts: the receiver gets another chance at once. */
  giveChance?(): void;
  release(): void;
  /** Disables the subscriber, because its backlog is too large. Rejects when the database fails. */
  suspend(): Promise<void>;
  /** Notifies the organization of a high backlog; null means recovered. Rejects when that must be tried again. */
  reportBacklog(report: BacklogReport | null): Promise<void>;
}

export interface Backlog {
  readonly deliveries: number;
  readonly bytes: number;
  readonly oldestAt: number | null;
}

export interface BacklogReport extends Backlog {
  readonly eventId: string;
  readonly now: number;
}

export interface BatchLimits {
  readonly maxEvents: number;
  readonly maxWaitMs: number;
}

export interface Pace {
  readonly maxInFlight: number;
  /** No attempt starts before this time (epoch ms), except for deliveries requested by hand. */
  readonly pausedUntil: number;
}

/** The state of a handler, stored with its subscriber: JSON, `{}` at first. */
export interface HandlerState {
  read(): string;
  write(json: string): void;
}

/**
 * When the next event is due after `now`, and the event of the time that was planned before and has come, unless that
 * is no longer wanted; null when the subscriber's row is gone. Rejects when the database fails.
 */
export type Timetable = (
  plannedAt: number | null,
  now: number,
) => Promise<{ readonly event: OutgoingEvent | null; readonly nextAt: number | null } | null>;

export type WebhookMessage = {
  /** The `webhook-id`: the same for each attempt of the same events. */
  readonly id: string;
  readonly body: string;
  readonly replayId: string | null;
  readonly trace?: Trace | null;
};

/** The target of an attempt, and the secrets that sign it, the newest first. */
export interface Destination extends TargetPolicy {
  readonly url: string;
  readonly secrets: readonly string[];
}

export type ErrorClass =
  /** The URL is not, or no longer, allowed; nothing was sent. */
  | "target"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  /** The receiver answered with a redirect; redirects are not followed. */
  | "redirect"
  | "status"
  | "body";

export type AttemptResult = {
  /** `gone`: the receiver answered 410 and wants no more deliveries. */
  readonly outcome: "delivered" | "gone" | "failed";
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly durationMs: number;
  /** The request's headers without the signature; null when none was sent. */
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  /** The response's headers without credentials and cookies; null without one. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The delay that the receiver asks for before the next attempt; null when it does not ask. */
  readonly retryAfterMs: number | null;
};

export interface BacklogLimits {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

export interface QuotaTotal {
  readonly used: number;
  readonly limit: number;
}

export interface BacklogSize {
  readonly events: number;
  readonly bytes: number;
}

export interface OrganizationBacklog {
  readonly events: QuotaTotal;
  readonly bytes: QuotaTotal;
  readonly subscribers: number;
}

export interface SubscriberPorts {
  createHandler(key: SubscriberKey, now: () => number, state: HandlerState): DeliveryHandler;
  send(destination: Destination, message: WebhookMessage, now: () => number): Promise<AttemptResult>;
  readonly limits: BacklogLimits;
  readLog(accountId: string, shard: number, query: LogQuery): Promise<LogSlice>;
  /** Writes the backlog of a subscriber to the organization's quotas, and returns the sums of all its subscribers. */
  reportBacklogSize(key: SubscriberKey, waiting: BacklogSize): Promise<OrganizationBacklog>;
}
