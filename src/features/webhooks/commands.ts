/** Writes to webhooks, and deliveries on request: a sample, a redelivery, or a replay. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type {
  Delivery,
  Redelivery,
  RedeliveryResult,
  Replay,
  ReplayCreation,
} from "@atrium/contract/rest/webhook-deliveries.ts";
import {
  findProblemOfAgent,
  type Webhook,
  type WebhookCreation,
  type WebhookUpdate,
  type WebhookWithSecret,
} from "@atrium/contract/rest/webhooks.ts";
import { fold } from "@atrium/contract/text.ts";
import { newSecret } from "../../delivery/signing-secret-store.ts";
import {
  announceChange,
  type DeliveryObjects,
  notifyOfChange,
  purgeSubscribers,
  removeSubscriber,
} from "../../delivery/subscribers.ts";
import { rowOf, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { findTargetProblem } from "../../platform/network.ts";
import { findIdentity } from "../identities/queries.ts";
import { guardSubscribers } from "../quotas/guard.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { IDENTITY_GONE, requireIdentity } from "../users/statements.ts";
import type { WebhookContext } from "./context.ts";
import { presentWebhook } from "./present.ts";
import { presentDelivery, presentReplay } from "./present-delivery.ts";
import { getWebhook, subscriberKey } from "./queries.ts";
import { sampleEvent } from "./sample-event.ts";
import {
  deleteWebhook as deleteRow,
  insertWebhook,
  rotateSecret as rotate,
  updateWebhook as updateRow,
} from "./store.ts";
import { type WebhookRow, webhooks } from "./table.ts";

/** The URL's columns; VALIDATION_ERROR when webhooks may not be sent there. */
function targetColumns(ctx: WebhookContext, url: string): Pick<WebhookRow, "url" | "urlFolded" | "ownHost"> {
  const ownHost = new URL(ctx.origin).host;
  const problem = findTargetProblem(url, {
    devTargets: ctx.webhookDevTargets,
    ownHosts: [...ctx.ownHosts, ownHost],
  });
  if (problem !== null) throw new AppError("Webhooks", "VALIDATION_ERROR", `url: ${problem}`);
  return { url, urlFolded: fold(url), ownHost };
}

/** NOT_FOUND without the identity, VALIDATION_ERROR for another kind than an agent. */
async function requireAgent(ctx: WebhookContext, identityId: string): Promise<void> {
  const identity = await findIdentity(ctx, { id: identityId });
  if (identity === null) throw notFound("Identities", "Identity");
  if (identity.kind === "agent") return;
  const problem = `identityId: is of kind ${identity.kind}, and only an agent has webhooks; give the ID of an agent`;
  throw new AppError("Webhooks", "VALIDATION_ERROR", problem);
}

/** VALIDATION_ERROR when a webhook of an agent would receive anything but its mentions, one by one. */
async function requireForAgent(ctx: WebhookContext, webhookId: string, update: WebhookUpdate): Promise<void> {
  const problem = findProblemOfAgent(update);
  if (problem === null) return;
  const { webhook } = await getWebhook(ctx, webhookId);
  if (webhook.identity_id === undefined) return;
  throw new AppError("Webhooks", "VALIDATION_ERROR", `${problem.path.join(".")}: ${problem.message}`);
}

const eventsColumn = (names: readonly string[]): string => JSON.stringify([...new Set(names)]);

/** Creates a webhook, and returns its secret. NOT_FOUND when it names a room that does not exist, FORBIDDEN beyond a quota. */
export async function createWebhook(
  ctx: WebhookContext,
  { url, events, roomId = null, identityId = null, batch = null, enabled }: WebhookCreation,
): Promise<{ webhook: WebhookWithSecret }> {
  const target = targetColumns(ctx, url);
  if (roomId !== null) await getRoomRow(ctx, roomId);
  if (identityId !== null) await requireAgent(ctx, identityId);
  const now = ctx.now();
  const id = ctx.newId();
  const { secret, sealed } = await newSecret(ctx.signingSealer, subscriberKey(ctx, id), now);
  const row = rowOf(webhooks, {
    accountId: ctx.accountId,
    id,
    ...target,
    events: eventsColumn(events),
    roomId,
    identityId,
    batch: batch && JSON.stringify(batch),
    enabled: Number(enabled),
    secret: sealed,
    createdAt: now,
    updatedAt: now,
  });
  const data = { webhook: { ...presentWebhook(row), secret } };
  const quota = guardSubscribers(ctx, "webhooks");
  const requirements = identityId === null ? [] : [requireIdentity(ctx, identityId)];
  await ctx
    .commit([insertWebhook(ctx, row), ...requirements, ...quota.statements], data)
    .catch(quota.refuse)
    .catch((error: unknown) => {
      throw violatedConstraint(error) === IDENTITY_GONE ? notFound("Identities", "Identity") : error;
    });
  await announceChange(ctx);
  return data;
}

/** Changes a webhook; pending deliveries go to its new URL. */
export async function updateWebhook(
  ctx: WebhookContext,
  webhookId: string,
  update: WebhookUpdate,
): Promise<{ webhook: Webhook }> {
  const { url, events, roomId, batch, enabled } = update;
  await requireForAgent(ctx, webhookId, update);
  const target = url === undefined ? {} : targetColumns(ctx, url);
  if (typeof roomId === "string") await getRoomRow(ctx, roomId);
  const changes = {
    ...target,
    ...(events === undefined ? {} : { events: eventsColumn(events) }),
    ...(roomId === undefined ? {} : { roomId }),
    ...(batch === undefined ? {} : { batch: batch && JSON.stringify(batch) }),
    ...(enabled === undefined ? {} : { enabled: Number(enabled), disabledReason: null }),
  };
  const [[row]] = await ctx.commit([updateRow(ctx, webhookId, changes, ctx.now())]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  await announceChange(ctx);
  await notifyOfChange(ctx, subscriberKey(ctx, webhookId), row.updatedAt);
  return { webhook: presentWebhook(row) };
}

export async function deleteWebhook(ctx: WebhookContext, webhookId: string): Promise<Record<string, never>> {
  const [deleted] = await ctx.commit([deleteRow(ctx, webhookId)]);
  if (deleted.length === 0) throw notFound("Webhooks", "Webhook");
  await announceChange(ctx);
  await removeSubscriber(ctx, subscriberKey(ctx, webhookId));
  return {};
}

export const purgeWebhooks = (tenant: Tenant, objects: DeliveryObjects, budget: WorkBudget, now: number) =>
  purgeSubscribers("webhook", tenant, objects, budget, now, (id) => [deleteRow(tenant, id)]);

export async function rotateSecret(
  ctx: WebhookContext,
  webhookId: string,
): Promise<{ webhook: WebhookWithSecret }> {
  const now = ctx.now();
  const key = subscriberKey(ctx, webhookId);
  const { secret, sealed, previousUntil } = await newSecret(ctx.signingSealer, key, now);
  const [[row]] = await ctx.commit([rotate(ctx, webhookId, sealed, previousUntil, now)]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: { ...presentWebhook(row), secret } };
}

export async function testWebhook(ctx: WebhookContext, webhookId: string): Promise<{ delivery: Delivery }> {
  const { webhook } = await getWebhook(ctx, webhookId);
  const key = subscriberKey(ctx, webhookId);
  const delivery = await ctx.subscribers(key).deliverNow(key, sampleEvent(ctx, webhook));
  if (delivery === null) throw notFound("Webhooks", "Webhook"); // the webhook was deleted meanwhile
  return { delivery: presentDelivery(webhookId, delivery) };
}

/** Delivers the event of an earlier delivery again, as a new delivery. NOT_FOUND when the earlier one is not kept. */
export async function redeliver(
  ctx: WebhookContext,
  webhookId: string,
  deliveryId: string,
): Promise<{ delivery: Delivery }> {
  await getWebhook(ctx, webhookId);
  const key = subscriberKey(ctx, webhookId);
  const delivery = await ctx.subscribers(key).redeliver(key, deliveryId);
  if (delivery === null) throw notFound("Webhooks", "Delivery");
  return { delivery: presentDelivery(webhookId, delivery) };
}

export async function redeliverSome(
  ctx: WebhookContext,
  webhookId: string,
  { ids }: Redelivery,
): Promise<RedeliveryResult> {
  await getWebhook(ctx, webhookId);
  const unique = [...new Set(ids)];
  const key = subscriberKey(ctx, webhookId);
  const missing = await ctx.subscribers(key).redeliverSome(key, unique);
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
  const request = {
    from,
    to,
    status: status ?? null,
    roomId: webhook.room_id,
    names: webhook.events,
    identityId: webhook.identity_id ?? null,
  };
  const key = subscriberKey(ctx, webhookId);
  const replay = await ctx.subscribers(key).startReplay(key, request);
  if (replay === null)
    throw new AppError(
      "Webhooks",
      "CONFLICT",
      "Another replay of this webhook is running: wait until it has finished",
    );
  return { replay: presentReplay(replay) };
}
