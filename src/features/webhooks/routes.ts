/** The REST endpoints of webhooks. */

import { WebhookEventName } from "@atrium/contract/resources/events.ts";
import { DeliveryStats, StatsQuery, totalling } from "@atrium/contract/rest/deliveries.ts";
import { pageShape, paging, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import {
  Delivery,
  DeliveryStatus,
  Redelivery,
  RedeliveryResult,
  Replay,
  ReplayCreation,
} from "@atrium/contract/rest/webhook-deliveries.ts";
import {
  ListedWebhook,
  Webhook,
  WebhookCreation,
  WebhookUpdate,
  WebhookWithSecret,
} from "@atrium/contract/rest/webhooks.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import {
  createWebhook,
  deleteWebhook,
  redeliver,
  redeliverSome,
  rotateSecret,
  startReplay,
  testWebhook,
  updateWebhook,
} from "./commands.ts";
import type { WebhookContext } from "./context.ts";
import { findReplay, getWebhook, getWebhookStats, listDeliveries, listWebhooks } from "./queries.ts";

const { endpoint } = endpointsFor<WebhookContext>({ module: "Webhooks" });

const { parameter: sort, orderOf } = sorting("Webhooks", "created_at", "updated_at", "url");

const SECRET_DETAILS = "The response shows `secret` once; a retry with the same Idempotency-Key answers 409.";
const DeliveriesQuery = z.object({
  ...scrolling,
  status: DeliveryStatus.optional().meta({ description: "Only deliveries with this status." }),
  event: WebhookEventName.optional().meta({
    description:
      "Only deliveries of this event, among the latest 10,000 with the status, or the 10,000 that follow `after`.",
  }),
  roomId: z.string().min(1).max(255).optional().meta({
    description:
      "Only deliveries of events of this room, among the latest 10,000 with the status, or the 10,000 that follow `after`.",
  }),
});

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/webhooks",
    operation: "listWebhooks",
    sdk: "webhooks.list(filter?: WebhookSearch): data",
    mayBeStale: true,
    summary: "List webhooks",
    details: "Newest first, or in the order of `sort`.",
    query: z.object({ ...paging, ...sort, ...searching("the webhook's `url`"), ...totalling }),
    done: "Webhooks retrieved",
    data: z.object({ webhooks: z.array(ListedWebhook), ...pageShape }),
    handle: (ctx, { query }) => listWebhooks(ctx, toPage(query, orderOf(query)), query.stats),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks",
    operation: "createWebhook",
    sdk: "webhooks.create(webhook): webhook as WebhookWithSecret",
    summary: "Create a webhook",
    details: SECRET_DETAILS,
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    body: WebhookCreation,
    status: 201,
    done: "Webhook created",
    data: z.object({ webhook: WebhookWithSecret }),
    audit: {
      resource: "webhook",
      created: ({ webhook }) => webhook.id,
      shows: ["roomId", "identityId", "enabled"],
    },
    handle: (ctx, { body }) => createWebhook(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/webhooks/:webhookId",
    operation: "getWebhook",
    sdk: "webhooks.get(webhookId): webhook",
    summary: "Get a webhook",
    details: "The response has no secret: only creating a webhook and rotating its secret return one.",
    errors: ["NOT_FOUND"],
    done: "Webhook retrieved",
    data: z.object({ webhook: Webhook }),
    handle: (ctx, { params }) => getWebhook(ctx, params.webhookId),
  }),
  endpoint({
    method: "PATCH",
    path: "/webhooks/:webhookId",
    operation: "updateWebhook",
    sdk: "webhooks.update(webhookId, changes): webhook",
    summary: "Update, disable or enable a webhook",
    details:
      "Pending deliveries go to the new URL. Disabling a webhook ends its pending deliveries, a few hundred at a time. Events that happen while it is disabled are not delivered later.",
    errors: ["NOT_FOUND"],
    body: WebhookUpdate,
    done: "Webhook updated",
    data: z.object({ webhook: Webhook }),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId, shows: ["roomId", "enabled"] },
    handle: (ctx, { params, body }) => updateWebhook(ctx, params.webhookId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/webhooks/:webhookId",
    operation: "deleteWebhook",
    sdk: "webhooks.delete(webhookId)",
    summary: "Delete a webhook and its deliveries",
    details: "Events that wait for the webhook are not sent any more.",
    errors: ["NOT_FOUND"],
    done: "Webhook deleted",
    data: z.object({}),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId },
    handle: (ctx, { params }) => deleteWebhook(ctx, params.webhookId),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks/:webhookId/rotate-secret",
    operation: "rotateWebhookSecret",
    isForAgents: false,
    sdk: "webhooks.rotateSecret(webhookId): webhook",
    summary: "Rotate a webhook's secret",
    details: `The old secret keeps signing beside the new one for 24 hours; a second rotation ends that immediately. ${SECRET_DETAILS}`,
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    done: "Webhook secret rotated",
    data: z.object({ webhook: WebhookWithSecret }),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId },
    handle: (ctx, { params }) => rotateSecret(ctx, params.webhookId),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks/:webhookId/test",
    operation: "testWebhook",
    sdk: "webhooks.test(webhookId): delivery",
    summary: "Send a sample event to a webhook",
    details:
      "Sends the first of the webhook's events, about a room and a user that do not exist, and responds after the first attempt, within 15 seconds. A disabled webhook receives nothing.",
    errors: ["NOT_FOUND"],
    done: "Test event sent",
    data: z.object({ delivery: Delivery }),
    handle: (ctx, { params }) => testWebhook(ctx, params.webhookId),
  }),
  endpoint({
    method: "GET",
    path: "/webhooks/:webhookId/deliveries",
    operation: "listWebhookDeliveries",
    sdk: [
      "webhooks.listDeliveries(webhookId, filter?: DeliverySearch): data",
      "webhooks.eachDelivery(webhookId, filter?: DeliverySearch): each deliveries",
    ],
    summary: "List a webhook's deliveries",
    details:
      "Newest first. Finished deliveries are kept for 7 days, up to 1 GiB of them. A page of large events may end early: continue with its `cursor`.",
    errors: ["NOT_FOUND"],
    query: DeliveriesQuery,
    done: "Deliveries retrieved",
    data: z.object({ deliveries: z.array(Delivery), ...scrollShape }),
    handle: (ctx, { params, query }) => listDeliveries(ctx, params.webhookId, query, toPage(query)),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks/:webhookId/redeliver",
    operation: "redeliverWebhookDeliveries",
    sdk: "webhooks.redeliverAll(webhookId, ids): data",
    summary: "Redeliver some events",
    details:
      "Creates a new delivery of each event, with the same event id, and attempts them ahead of the queue, in no particular order. For a span of events in order, or all that failed in it, there is a replay.",
    errors: ["NOT_FOUND"],
    body: Redelivery,
    done: "Deliveries repeated",
    data: RedeliveryResult,
    handle: (ctx, { params, body }) => redeliverSome(ctx, params.webhookId, body),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks/:webhookId/deliveries/:deliveryId/redeliver",
    operation: "redeliverWebhookDelivery",
    sdk: "webhooks.redeliver(webhookId, deliveryId): delivery",
    summary: "Redeliver an event",
    details:
      "Creates a new delivery of the same event, with the same event id, and attempts it ahead of the queue.",
    errors: ["NOT_FOUND"],
    done: "Delivery repeated",
    data: z.object({ delivery: Delivery }),
    handle: (ctx, { params }) => redeliver(ctx, params.webhookId, params.deliveryId),
  }),
  endpoint({
    method: "POST",
    path: "/webhooks/:webhookId/replay",
    operation: "replayWebhookEvents",
    sdk: "webhooks.replay(webhookId, span): replay",
    summary: "Send a span of events again",
    details:
      "Sends the events of a time again that the webhook listens to, as new deliveries with the same event ids: all that the event log has, or with `status` those whose kept deliveries have it. Events of a room are sent in their order, a few hundred at a time, beside what happens meanwhile. Their requests have the header `Atrium-Replay`. One replay of a webhook runs at a time.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The webhook is disabled, or another replay of it is running.",
      "Enable the webhook, or wait until the replay has finished.",
    ],
    body: ReplayCreation,
    done: "Replay started",
    data: z.object({ replay: Replay }),
    handle: (ctx, { params, body }) => startReplay(ctx, params.webhookId, body),
  }),
  endpoint({
    method: "GET",
    path: "/webhooks/:webhookId/replay",
    operation: "getWebhookReplay",
    sdk: "webhooks.getReplay(webhookId): replay",
    summary: "Get a webhook's latest replay",
    details: "Says how many deliveries the replay has created so far, and whether it is still running.",
    errors: ["NOT_FOUND"],
    done: "Replay retrieved",
    data: z.object({ replay: Replay.nullable().meta({ description: "null when there was none." }) }),
    handle: (ctx, { params }) => findReplay(ctx, params.webhookId),
  }),
  endpoint({
    method: "GET",
    path: "/webhooks/:webhookId/stats",
    operation: "getWebhookStats",
    sdk: "webhooks.stats(webhookId, range?): stats",
    summary: "Get the success rate and latency of a webhook over time",
    details:
      "Counts every attempt when it ends, retries included, and says what waits now. Counts by the minute are kept for a day, by the hour for 30 days.",
    errors: ["NOT_FOUND"],
    query: StatsQuery,
    done: "Webhook stats retrieved",
    data: z.object({ stats: DeliveryStats }),
    handle: (ctx, { params, query }) => getWebhookStats(ctx, params.webhookId, query.range),
  }),
];
