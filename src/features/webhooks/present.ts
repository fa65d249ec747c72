/** Webhooks as they are presented. */

import { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Webhook } from "@atrium/contract/rest/webhooks.ts";
import { presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import type { BatchLimits } from "../../delivery/subscriber/handler.ts";
import { MAX_UNPROVEN_FAILURES, parseBatch } from "./receiver-health.ts";
import type { DisabledReason, WebhookRow } from "./table.ts";

/** Why the service disabled a webhook, and what to do, in the words of the API. */
export const DISABLED_MESSAGES: Readonly<Record<DisabledReason, string>> = {
  gone: "The receiver answered 410 Gone. Enable the webhook again when it should receive events.",
  failing:
    "Every attempt has failed for five days. Make the receiver answer 2xx, then enable the webhook again: it receives what waits.",
  unproven: `The receiver has never answered 2xx, in ${MAX_UNPROVEN_FAILURES} attempts and a day. Make it answer 2xx, then enable the webhook again: it receives what waits.`,
  backlogged:
    "Too many events were waiting, for this webhook or for all of the organization, or the oldest for too long. Make the receiver faster, then enable the webhook again: it receives what waits.",
};

const presentBatch = (batch: BatchLimits | null): Pick<Webhook, "batch"> =>
  batch === null ? {} : { batch: { max_events: batch.maxEvents, max_wait_ms: batch.maxWaitMs } };

export const presentWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  organization_id: row.accountId,
  url: row.url,
  events: z.array(WebhookEventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  ...presentBatch(parseBatch(row.batch)),
  enabled: row.enabled === 1,
  ...(row.disabledReason === null ? {} : { disabled_reason: DISABLED_MESSAGES[row.disabledReason] }),
  ...(row.backloggedSince === null ? {} : { backlogged_since: presentTime(row.backloggedSince) }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});
