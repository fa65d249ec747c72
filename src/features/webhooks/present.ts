/** Webhooks as they are presented. */

import { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Webhook } from "@atrium/contract/rest/webhooks.ts";
import { presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import type { BatchLimits } from "../../delivery/subscriber/handler.ts";
import { DISABLED_MESSAGES } from "./disabled.ts";
import { parseBatch } from "./receiver-health.ts";
import type { WebhookRow } from "./table.ts";

const presentBatch = (batch: BatchLimits | null): Pick<Webhook, "batch"> =>
  batch === null ? {} : { batch: { max_events: batch.maxEvents, max_wait_ms: batch.maxWaitMs } };

export const presentWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  organization_id: row.accountId,
  url: row.url,
  events: z.array(WebhookEventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  ...(row.identityId === null ? {} : { identity_id: row.identityId }),
  ...presentBatch(parseBatch(row.batch)),
  enabled: row.enabled === 1,
  ...(row.disabledReason === null ? {} : { disabled_reason: DISABLED_MESSAGES[row.disabledReason] }),
  ...(row.backloggedSince === null ? {} : { backlogged_since: presentTime(row.backloggedSince) }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});
