/** The ports of a subscriber's object: a handler of its kind, its limits, and the organization's log and quotas. */
import type { LogQuery, LogSlice } from "../event-log/log-query.ts";
import type { DeliveryHandler, HandlerState } from "../port/handler.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import type { AttemptResult, Destination, WebhookMessage } from "../port/webhook-request.ts";
import type { BacklogLimits } from "./backlog-guard.ts";
import type { WaitingReportPorts } from "./waiting-report.ts";

export interface SubscriberPorts extends WaitingReportPorts {
  /** Creates the handler for the subscriber's kind; `now` returns epoch milliseconds. */
  createHandler(key: SubscriberKey, now: () => number, state: HandlerState): DeliveryHandler;
  /** Makes one request. Never rejects: every failure is a result. */
  send(destination: Destination, message: WebhookMessage, now: () => number): Promise<AttemptResult>;
  readonly limits: BacklogLimits;
  /** Reads a shard of the organization's event log. */
  readLog(accountId: string, shard: number, query: LogQuery): Promise<LogSlice>;
}
