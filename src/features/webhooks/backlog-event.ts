/** Presents the event that much waits for a webhook. */
import type { BacklogReport } from "../../delivery/port/handler.ts";
import { presentNullableTime, presentTime } from "../../platform/time.ts";
import type { Webhook, WebhookBackloggedEvent } from "./schema.ts";

/** The event as JSON. */
export function presentBacklogged(webhook: Webhook, report: BacklogReport): string {
  const { eventId, now, deliveries, bytes, oldestAt } = report;
  const event: WebhookBackloggedEvent = {
    id: eventId,
    event: "webhook.backlogged",
    timestamp: presentTime(now),
    data: {
      webhookId: webhook.id,
      waiting: deliveries,
      waitingBytes: bytes,
      oldestWaitingSince: presentNullableTime(oldestAt),
    },
    webhook,
  };
  return JSON.stringify(event);
}
