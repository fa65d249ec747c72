/** What a subscriber's object needs of the service: a handler of its kind, its limits, and the organization's log and quotas. */

import type { Env } from "../../env.ts";
import { reportWaiting } from "../../features/quotas/waiting.ts";
import { attempt } from "../../features/webhooks/attempt.ts";
import { WebhookHandler } from "../../features/webhooks/webhook-handler.ts";
import { WorkflowHandler } from "../../features/workflows/workflow-handler.ts";
import { backlogLimits, quotaDefaults } from "../../platform/config/limits.ts";
import { openTenant } from "../../platform/placement/databases.ts";
import { targetFetch } from "../../platform/target.ts";
import type { LogQuery, LogSlice } from "../event-log/port/event-log-port.ts";
import { eventLogGateway } from "../event-log/shards/event-log-gateway.ts";
import type { DeliveryHandler, HandlerState } from "../handler.ts";
import type { SubscriberKey } from "../port/subscriber-port.ts";
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

export const subscriberPorts = (env: Env): SubscriberPorts => ({
  createHandler: (key, now, state) =>
    key.kind === "webhook"
      ? new WebhookHandler(env, key, now, state)
      : new WorkflowHandler(env, key, now, state),
  send: (destination, message, now) =>
    attempt(destination, message, { fetch: targetFetch(env.PUBLIC_NETWORK, destination.devTargets), now }),
  limits: backlogLimits(env),
  readLog: eventLogGateway(env).read,
  reportWaiting: ({ accountId, id }, waiting) =>
    reportWaiting(openTenant(env, accountId), id, waiting, quotaDefaults(env)),
});
