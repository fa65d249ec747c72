/** What can be done to webhooks. */
import type { RequestContext } from "../context/context.ts";
import type { Delivery } from "../delivery/subscriber-port.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { fold } from "../platform/text.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { getWebhook, keyOf } from "./queries.ts";
import { sampleEvent } from "./sample-event.ts";
import {
  presentWebhook,
  type Webhook,
  type WebhookCreation,
  type WebhookUpdate,
  type WebhookWithSecret,
} from "./schema.ts";
import { createSecret } from "./sign.ts";
import {
  deleteWebhook as deleteRow,
  insertWebhook,
  rotateSecret as rotate,
  updateWebhook as updateRow,
} from "./store.ts";
import type { WebhookRow } from "./table.ts";
import { findTargetProblem } from "./target.ts";

/** How long a secret still signs beside the one that has replaced it. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** The address as it is stored; VALIDATION_ERROR when nothing may be sent there. */
function targetOf(ctx: RequestContext, url: string): Pick<WebhookRow, "url" | "urlFolded" | "ownHost"> {
  const ownHost = new URL(ctx.origin).host;
  const problem = findTargetProblem(url, { devTargets: ctx.webhookDevTargets, ownHost });
  if (problem !== null) throw new AppError("Webhooks", "VALIDATION_ERROR", `url: ${problem}`);
  return { url, urlFolded: fold(url), ownHost };
}

const eventsOf = (names: readonly string[]): string => JSON.stringify([...new Set(names)]);

/** Creates a webhook. The answer is where its secret is shown. NOT_FOUND when it is for a room that is not there. */
export async function createWebhook(
  ctx: RequestContext,
  { url, events, roomId = null, enabled }: WebhookCreation,
): Promise<{ webhook: WebhookWithSecret }> {
  const target = targetOf(ctx, url);
  if (roomId !== null) await getRoomRow(ctx, roomId);
  const now = ctx.now();
  const row = {
    accountId: ctx.accountId,
    id: ctx.newId(),
    ...target,
    events: eventsOf(events),
    roomId,
    enabled: Number(enabled),
    createdAt: now,
    updatedAt: now,
  };
  const secret = createSecret();
  const data = { webhook: { ...presentWebhook(row), secret } };
  await ctx.commit(
    [insertWebhook(ctx, { ...row, secret, previousSecret: null, previousSecretUntil: null })],
    data,
  );
  return data;
}

/** Changes a webhook; what waits to be delivered goes where it points now. */
export async function updateWebhook(
  ctx: RequestContext,
  webhookId: string,
  { url, events, roomId, enabled }: WebhookUpdate,
): Promise<{ webhook: Webhook }> {
  const target = url === undefined ? {} : targetOf(ctx, url);
  if (typeof roomId === "string") await getRoomRow(ctx, roomId);
  const changes = {
    ...target,
    ...(events === undefined ? {} : { events: eventsOf(events) }),
    ...(roomId === undefined ? {} : { roomId }),
    ...(enabled === undefined ? {} : { enabled: Number(enabled) }),
  };
  const [[row]] = await ctx.commit([updateRow(ctx, webhookId, changes, ctx.now())]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: presentWebhook(row) };
}

/** Removes a webhook and all that was to be delivered to it. */
export async function deleteWebhook(ctx: RequestContext, webhookId: string): Promise<Record<string, never>> {
  const [deleted] = await ctx.commit([deleteRow(ctx, webhookId)]);
  if (deleted.length === 0) throw notFound("Webhooks", "Webhook");
  await ctx.subscribers.remove(keyOf(ctx, webhookId)).catch((error: unknown) => {
    // It finds no webhook when it wakes to deliver, and forgets then.
    ctx.log("A deleted webhook could not be forgotten yet", error);
  });
  return {};
}

/** Gives a webhook a new secret, which the answer shows; the old one signs beside it for a day. */
export async function rotateSecret(
  ctx: RequestContext,
  webhookId: string,
): Promise<{ webhook: WebhookWithSecret }> {
  const [secret, now] = [createSecret(), ctx.now()];
  const [[row]] = await ctx.commit([rotate(ctx, webhookId, secret, now + SECRET_OVERLAP_MS, now)]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: { ...presentWebhook(row), secret } };
}

/** Sends a made-up event at once; the delivery tells how the first attempt went. */
export async function testWebhook(ctx: RequestContext, webhookId: string): Promise<{ delivery: Delivery }> {
  const { webhook } = await getWebhook(ctx, webhookId);
  return { delivery: await ctx.subscribers.send(keyOf(ctx, webhookId), sampleEvent(ctx, webhook)) };
}

/** Sends a delivery's event once more, as a delivery of its own. NOT_FOUND when it is not remembered. */
export async function redeliver(
  ctx: RequestContext,
  webhookId: string,
  deliveryId: string,
): Promise<{ delivery: Delivery }> {
  await getWebhook(ctx, webhookId);
  const delivery = await ctx.subscribers.redeliver(keyOf(ctx, webhookId), deliveryId);
  if (delivery === null) throw notFound("Webhooks", "Delivery");
  return { delivery };
}
