/** What can be asked about webhooks. */
import type { RequestContext } from "../context/context.ts";
import type { Delivery, SubscriberKey } from "../delivery/subscriber-port.ts";
import { type PresentedPage, presentPage } from "../http/paginate.ts";
import type { Page } from "../platform/d1.ts";
import { notFound } from "../platform/errors.ts";
import { presentWebhook, type Webhook } from "./schema.ts";
import { countWebhooks, selectWebhook, selectWebhooks } from "./store.ts";

/** The object that delivers to the webhook. */
export const keyOf = ({ accountId }: Pick<RequestContext, "accountId">, id: string): SubscriberKey => ({
  kind: "webhook",
  accountId,
  id,
});

/** A page of the organization's webhooks, newest first. */
export async function listWebhooks(
  ctx: RequestContext,
  page: Page,
): Promise<{ webhooks: Webhook[] } & PresentedPage> {
  const [rows, counted] = await ctx.db.run([selectWebhooks(ctx, page), countWebhooks(ctx, page)]);
  return { webhooks: rows.map(presentWebhook), ...presentPage(page, counted) };
}

/** NOT_FOUND when it is not there or not the organization's. */
export async function getWebhook(ctx: RequestContext, webhookId: string): Promise<{ webhook: Webhook }> {
  const [[row]] = await ctx.db.run([selectWebhook(ctx, webhookId)]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: presentWebhook(row) };
}

/** A page of what was and is to be delivered, newest first, as far as it is remembered. */
export async function listDeliveries(
  ctx: RequestContext,
  webhookId: string,
  filter: { readonly status?: Delivery["status"] | undefined },
  { limit, offset }: Page,
): Promise<{ deliveries: Delivery[] } & PresentedPage> {
  await getWebhook(ctx, webhookId);
  const key = keyOf(ctx, webhookId);
  const { deliveries, total } = await ctx.subscribers.listDeliveries(key, filter, { limit, offset });
  return { deliveries: [...deliveries], total, limit, offset };
}
