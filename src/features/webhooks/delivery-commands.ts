/** Sends a webhook events on request: a sample, some again, or a span of them. */
import { AppError, notFound } from "../../platform/errors.ts";
import type { WebhookContext } from "./context.ts";
import { type Delivery, presentDelivery } from "./delivery-schema.ts";
import { getWebhook, subscriberKey } from "./queries.ts";
import type { Redelivery, RedeliveryResult } from "./redelivery-schema.ts";
import { presentReplay, type Replay, type ReplayCreation } from "./replay-schema.ts";
import { sampleEvent } from "./sample-event.ts";

/** Delivers a sample event now, and returns the delivery after its first attempt. */
export async function testWebhook(ctx: WebhookContext, webhookId: string): Promise<{ delivery: Delivery }> {
  const { webhook } = await getWebhook(ctx, webhookId);
  const key = subscriberKey(ctx, webhookId);
  const delivery = await ctx.subscribers(key).deliverNow(key, sampleEvent(ctx, webhook));
  if (delivery === null) throw notFound("Webhooks", "Webhook"); // it was deleted meanwhile
  return { delivery: presentDelivery(webhookId, delivery) };
}

/** Delivers the event of an earlier delivery again, as a new delivery. NOT_FOUND when the earlier one is not kept. */
export async function redeliver(
  ctx: WebhookContext,
  webhookId: string,
  deliveryId: string,
): Promise<{ delivery: Delivery }> {
  await getWebhook(ctx, webhookId);
  const delivery = await ctx
    .subscribers(subscriberKey(ctx, webhookId))
    .redeliver(subscriberKey(ctx, webhookId), deliveryId);
  if (delivery === null) throw notFound("Webhooks", "Delivery");
  return { delivery: presentDelivery(webhookId, delivery) };
}

/** The same of several deliveries at once: those that are not kept are reported. */
export async function redeliverSome(
  ctx: WebhookContext,
  webhookId: string,
  { ids }: Redelivery,
): Promise<RedeliveryResult> {
  await getWebhook(ctx, webhookId);
  const unique = [...new Set(ids)];
  const missing = await ctx
    .subscribers(subscriberKey(ctx, webhookId))
    .redeliverSome(subscriberKey(ctx, webhookId), unique);
  return { redelivered: unique.length - missing.length, missing };
}

/**
 * Starts to send a span of events to the webhook again. CONFLICT while it is disabled or another replay is running,
 * VALIDATION_ERROR for a span that ends before it begins.
 */
export async function startReplay(
  ctx: WebhookContext,
  webhookId: string,
  { from, to = ctx.now(), status }: ReplayCreation,
): Promise<{ replay: Replay }> {
  if (to < from) throw new AppError("Webhooks", "VALIDATION_ERROR", "to: must not be before from");
  const { webhook } = await getWebhook(ctx, webhookId);
  if (!webhook.enabled)
    throw new AppError(
      "Webhooks",
      "CONFLICT",
      "The webhook is disabled: enable it before you send events again",
    );
  const request = { from, to, status: status ?? null, roomId: webhook.room_id, names: webhook.events };
  const replay = await ctx
    .subscribers(subscriberKey(ctx, webhookId))
    .startReplay(subscriberKey(ctx, webhookId), request);
  if (replay === null)
    throw new AppError(
      "Webhooks",
      "CONFLICT",
      "Another replay of this webhook is running: wait until it has finished",
    );
  return { replay: presentReplay(replay) };
}
