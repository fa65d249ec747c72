/** Reads of webhooks and their deliveries. */

import { notFound } from "@atrium/contract/errors.ts";
import type { DeliveryStats, DeliveryTotals } from "@atrium/contract/rest/deliveries.ts";
import type { Delivery, DeliveryStatus, Replay } from "@atrium/contract/rest/webhook-deliveries.ts";
import type { ListedWebhook, Webhook } from "@atrium/contract/rest/webhooks.ts";
import { keyOf } from "../../delivery/outbox/subscription.ts";
import type { DeliveryQuery } from "../../delivery/subscriber/delivery.ts";
import { type PresentedPage, type PresentedScroll, presentPage } from "../../http/lists.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { presentDeliveryPage, presentStats, presentTotals, toDeliveryQuery } from "../deliveries/present.ts";
import type { WebhookContext } from "./context.ts";
import { presentWebhook } from "./present.ts";
import { presentDelivery, presentReplay } from "./present-delivery.ts";
import { countWebhooks, selectWebhook, selectWebhooks } from "./store.ts";

export const subscriberKey = keyOf("webhook");

/** A page of the webhooks. `range` adds the totals, with one call of an object per webhook. */
export async function listWebhooks(
  ctx: WebhookContext,
  page: Page,
  range?: DeliveryTotals["range"],
): Promise<{ webhooks: ListedWebhook[] } & PresentedPage> {
  const [rows, counted] = await ctx.db.run([selectWebhooks(ctx, page), countWebhooks(ctx, page)]);
  const totalsOf = async (webhookId: string) =>
    range && {
      stats: presentTotals(range, await ctx.subscribers(subscriberKey(ctx, webhookId)).stats(range)),
    };
  const webhooks = rows.map(async (row) => ({ ...presentWebhook(row), ...(await totalsOf(row.id)) }));
  return { webhooks: await Promise.all(webhooks), ...presentPage(page, counted) };
}

/** NOT_FOUND when the organization has no such webhook. */
export async function getWebhook(ctx: WebhookContext, webhookId: string): Promise<{ webhook: Webhook }> {
  const [[row]] = await ctx.db.run([selectWebhook(ctx, webhookId)]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: presentWebhook(row) };
}

interface DeliveryFilter extends Pick<DeliveryQuery, "event" | "roomId"> {
  readonly status?: DeliveryStatus | undefined;
}

/** A page of the webhook's deliveries that are kept, newest first. NOT_FOUND without the webhook. */
export async function listDeliveries(
  ctx: WebhookContext,
  webhookId: string,
  { status, event, roomId }: DeliveryFilter,
  page: Page,
): Promise<{ deliveries: Delivery[] } & PresentedScroll> {
  const query = { ...toDeliveryQuery("Webhooks", page), event, roomId };
  await getWebhook(ctx, webhookId);
  const found = await ctx.subscribers(subscriberKey(ctx, webhookId)).list(status ?? "any", query);
  const deliveries = found.deliveries.map((each) => presentDelivery(webhookId, each));
  return { deliveries, ...presentDeliveryPage(page, found) };
}

/** The webhook's latest replay; null when there was none. NOT_FOUND without the webhook. */
export async function findReplay(ctx: WebhookContext, webhookId: string): Promise<{ replay: Replay | null }> {
  await getWebhook(ctx, webhookId);
  const replay = await ctx.subscribers(subscriberKey(ctx, webhookId)).findReplay();
  return { replay: replay && presentReplay(replay) };
}

export async function getWebhookStats(
  ctx: WebhookContext,
  webhookId: string,
  range: DeliveryStats["range"],
): Promise<{ stats: DeliveryStats }> {
  await getWebhook(ctx, webhookId);
  return { stats: presentStats(range, await ctx.subscribers(subscriberKey(ctx, webhookId)).stats(range)) };
}
