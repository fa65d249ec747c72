/** Writes to webhooks. */

import { sealSecret } from "../../delivery/signing-secrets.ts";
import { announceChange } from "../../delivery/subscribers.ts";
import { createSecret } from "../../platform/crypto/standard-webhooks.ts";
import { DAY_MS } from "../../platform/durations.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { findTargetProblem } from "../../platform/target.ts";
import { fold } from "../../platform/text.ts";
import { guardSubscribers } from "../quotas/guard.ts";
import { getRoomRow } from "../rooms/queries.ts";
import type { WebhookContext } from "./context.ts";
import type { WebhookCreation, WebhookUpdate } from "./input-schema.ts";
import { subscriberKey } from "./queries.ts";
import { presentWebhook, type Webhook, type WebhookWithSecret } from "./schema.ts";
import {
  deleteWebhook as deleteRow,
  insertWebhook,
  rotateSecret as rotate,
  updateWebhook as updateRow,
} from "./store.ts";
import type { WebhookRow } from "./table.ts";

/** How long a rotated secret keeps signing beside the new one. */
const SECRET_OVERLAP_MS = DAY_MS;

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

const eventsColumn = (names: readonly string[]): string => JSON.stringify([...new Set(names)]);

/** Creates a webhook, and returns its secret. NOT_FOUND when it names a room that does not exist, FORBIDDEN beyond a quota. */
export async function createWebhook(
  ctx: WebhookContext,
  { url, events, roomId = null, batch = null, enabled }: WebhookCreation,
): Promise<{ webhook: WebhookWithSecret }> {
  const target = targetColumns(ctx, url);
  if (roomId !== null) await getRoomRow(ctx, roomId);
  const now = ctx.now();
  const row = {
    accountId: ctx.accountId,
    id: ctx.newId(),
    ...target,
    events: eventsColumn(events),
    roomId,
    batch: batch && JSON.stringify(batch),
    enabled: Number(enabled),
    disabledReason: null,
    backloggedSince: null,
    createdAt: now,
    updatedAt: now,
  };
  const secret = createSecret();
  const data = { webhook: { ...presentWebhook(row), secret } };
  const quota = guardSubscribers(ctx, "webhooks");
  const stored = {
    ...row,
    secret: await sealSecret(ctx.signingSealer, secret, subscriberKey(ctx, row.id)),
    ...{ previousSecret: null, previousSecretUntil: null },
  };
  await ctx.commit([insertWebhook(ctx, stored), ...quota.statements], data).catch(quota.refuse);
  await announceChange(ctx);
  return data;
}

/** Changes a webhook; pending deliveries go to its new URL. */
export async function updateWebhook(
  ctx: WebhookContext,
  webhookId: string,
  { url, events, roomId, batch, enabled }: WebhookUpdate,
): Promise<{ webhook: Webhook }> {
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
  await ctx
    .subscribers(subscriberKey(ctx, webhookId))
    .notifyOfChange(row.updatedAt)
    .catch((error: unknown) => {
      // It reads the row again within a second of its next delivery, or after an hour.
      ctx.log("The object of a changed webhook could not be notified", error);
    });
  return { webhook: presentWebhook(row) };
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhook(ctx: WebhookContext, webhookId: string): Promise<Record<string, never>> {
  const [deleted] = await ctx.commit([deleteRow(ctx, webhookId)]);
  if (deleted.length === 0) throw notFound("Webhooks", "Webhook");
  await announceChange(ctx);
  await ctx
    .subscribers(subscriberKey(ctx, webhookId))
    .remove()
    .catch((error: unknown) => {
      // The object removes its data by itself when it next delivers and finds no webhook.
      ctx.log("The deliveries of a deleted webhook could not be removed yet", error);
    });
  return {};
}

/** Replaces the webhook's secret, and returns the new one; the old one keeps signing beside it for a day. */
export async function rotateSecret(
  ctx: WebhookContext,
  webhookId: string,
): Promise<{ webhook: WebhookWithSecret }> {
  const [secret, now] = [createSecret(), ctx.now()];
  const sealed = await sealSecret(ctx.signingSealer, secret, subscriberKey(ctx, webhookId));
  const [[row]] = await ctx.commit([rotate(ctx, webhookId, sealed, now + SECRET_OVERLAP_MS, now)]);
  if (row === undefined) throw notFound("Webhooks", "Webhook");
  return { webhook: { ...presentWebhook(row), secret } };
}
