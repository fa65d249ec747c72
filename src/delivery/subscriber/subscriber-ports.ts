/** The ports of a subscriber's object: a handler of its kind, its limits, and the organization's log and quotas. */
import type { LogQuery, LogSlice } from "../event-log/log-query.ts";
import type { DeliveryHandler, HandlerState } from "../port/handler.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import type { AttemptResult, Destination, WebhookMessage } from "../port/webhook-request.ts";

/** The limits of a subscriber's backlog. */
export interface BacklogLimits {
  readonly maxBytes: number;
  /** The age of the oldest event, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The use of a quota, and its limit. */
export interface QuotaTotal {
  readonly used: number;
  readonly limit: number;
}

/** The backlog of a webhook or workflow, as quotas count it. */
export interface Waiting {
  readonly events: number;
  /** Bytes in storage. */
  readonly bytes: number;
}

/** The backlogs of all webhooks and workflows of an organization. */
export interface WaitingAltogether {
  readonly events: QuotaTotal;
  readonly bytes: QuotaTotal;
  /** The subscribers with a backlog. */
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
