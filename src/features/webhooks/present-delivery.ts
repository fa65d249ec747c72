/** Deliveries and replays of a webhook as they are presented. */

import { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Delivery, DeliveryAttempt, Replay } from "@atrium/contract/rest/webhook-deliveries.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import type { DeliveryRecord, ReplayRecord } from "../../delivery/subscriber/delivery.ts";
import { presentTraced } from "../deliveries/present.ts";

export function presentDelivery(webhookId: string, delivery: DeliveryRecord): Delivery {
  const log = parseLog(delivery.log);
  return {
    id: delivery.id,
    webhook_id: webhookId,
    event: WebhookEventName.parse(delivery.event),
    payload: delivery.body,
    status: delivery.status,
    attempts: delivery.attempts,
    last_attempt_at: presentNullableTime(delivery.lastAttemptAt),
    next_retry_at: delivery.attempts === 0 ? null : presentNullableTime(delivery.dueAt),
    status_code: log.at(-1)?.status_code ?? null,
    error: delivery.error,
    created_at: presentTime(delivery.createdAt),
    ...presentTraced(delivery),
    log,
  };
}

const parseLog = (log: string): DeliveryAttempt[] => JSON.parse(log) as DeliveryAttempt[];

export const presentReplay = (replay: ReplayRecord): Replay => ({
  id: replay.id,
  from: presentTime(replay.from),
  to: presentTime(replay.to),
  status: replay.status,
  state: replay.endedAt === null ? "running" : "finished",
  deliveries: replay.deliveries,
  error: replay.error,
  created_at: presentTime(replay.startedAt),
  finished_at: presentNullableTime(replay.endedAt),
});
