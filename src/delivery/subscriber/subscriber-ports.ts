/** The ports of a subscriber's object: a handler of its kind, its limits, and the organization's log and quotas. */
import type { LogQuery, LogSlice } from "../event-log/log-query.ts";
import type { DeliveryHandler, HandlerState } from "../port/handler.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import type { AttemptResult, Destination, WebhookMessage } from "../port/webhook-request.ts";

/** The limits of what waits for one subscriber. */
export interface BacklogLimits {
  readonly maxBytes: number;
  /** Of the oldest event that waits, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The use of a quota, and its limit. */
export interface QuotaTotal {
  readonly used: number;
  readonly limit: number;
}

/** What waits for a webhook or workflow. */
export interface Waiting {
  readonly events: number;
  /** What they take in storage. */
  readonly bytes: number;
}

/** What waits for all webhooks and workflows of an organization. */
export interface WaitingAltogether {
  readonly events: QuotaTotal;
  readonly bytes: QuotaTotal;
  /** For how many of them something waits. */
  readonly subscribers: number;
}

/** The rest of the service, as a subscriber's object sees it. */
export interface SubscriberPorts {
  /** Creates the handler for the subscriber's kind; `now` returns epoch milliseconds. */
  createHandler(key: SubscriberKey, now: () => number, state: HandlerState): DeliveryHandler;
  /** Makes one request. Never rejects: every failure is a result. */
  send(destination: Destination, message: WebhookMessage, now: () => number): Promise<AttemptResult>;
  readonly limits: BacklogLimits;
  /** Reads a shard of the organization's event log. */
  readLog(accountId: string, shard: number, query: LogQuery): Promise<LogSlice>;
  /** Writes the backlog of a subscriber to the organization's quotas, and returns the sums of all its subscribers. */
  reportWaiting(key: SubscriberKey, waiting: Waiting): Promise<WaitingAltogether>;
}
