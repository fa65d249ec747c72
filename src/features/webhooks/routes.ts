/** The REST endpoints of webhooks. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/replay.ts";
import { paging, searching, toPage } from "../../http/lists/paginate.ts";
import { pageShape } from "../../http/lists/presented-page.ts";
import { sorting } from "../../http/lists/sorting.ts";
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from "./commands.ts";
import type { WebhookContext } from "./context.ts";
import { WebhookCreation, WebhookUpdate } from "./input-schema.ts";
import { getWebhook, listWebhooks } from "./queries.ts";
import { Webhook, WebhookWithSecret } from "./schema.ts";

const { endpoint } = endpointsFor<WebhookContext>();

const common = { module: "Webhooks", access: "organization" } as const;

const { parameter: sort, orderOf } = sorting("Webhooks", "created_at", "updated_at", "url");

const SECRET_DETAILS = "The response shows `secret` once; a retry with the same Idempotency-Key answers 409.";

export const webhookEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/webhooks",
    operation: "listWebhooks",
    mayBeStale: true,
    summary: "List webhooks",
    details: "Newest first, or in the order of `sort`.",
    errors: [],
    query: z.object({ ...paging, ...sort, ...searching("the webhook's `url`") }),
    status: 200,
    done: "Webhooks retrieved",
    data: z.object({ webhooks: z.array(Webhook), ...pageShape }),
    handle: (ctx, { query }) => listWebhooks(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/webhooks",
    operation: "createWebhook",
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
      shows: ["roomId", "enabled"],
    },
    handle: (ctx, { body }) => createWebhook(ctx, body),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: "/webhooks/:webhookId",
    operation: "getWebhook",
    summary: "Get a webhook",
    details: "The response has no secret: only creating a webhook and rotating its secret return one.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Webhook retrieved",
    data: z.object({ webhook: Webhook }),
    handle: (ctx, { params }) => getWebhook(ctx, params.webhookId),
  }),
  endpoint({
    ...common,
    method: "PATCH",
    path: "/webhooks/:webhookId",
    operation: "updateWebhook",
    summary: "Update, disable or enable a webhook",
    details:
      "Pending deliveries go to the new URL. Disabling a webhook ends its pending deliveries, a few hundred at a time. Events that happen while it is disabled are not delivered later.",
    errors: ["NOT_FOUND"],
    body: WebhookUpdate,
    status: 200,
    done: "Webhook updated",
    data: z.object({ webhook: Webhook }),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId, shows: ["roomId", "enabled"] },
    handle: (ctx, { params, body }) => updateWebhook(ctx, params.webhookId, body),
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: "/webhooks/:webhookId",
    operation: "deleteWebhook",
    summary: "Delete a webhook and its deliveries",
    details: "Events that wait for the webhook are not sent any more.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Webhook deleted",
    data: z.object({}),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId },
    handle: (ctx, { params }) => deleteWebhook(ctx, params.webhookId),
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/webhooks/:webhookId/rotate-secret",
    operation: "rotateWebhookSecret",
    summary: "Rotate a webhook's secret",
    details: `The old secret keeps signing beside the new one for 24 hours; a second rotation ends that immediately. ${SECRET_DETAILS}`,
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    status: 200,
    done: "Webhook secret rotated",
    data: z.object({ webhook: WebhookWithSecret }),
    audit: { resource: "webhook", id: ({ params }) => params.webhookId },
    handle: (ctx, { params }) => rotateSecret(ctx, params.webhookId),
  }),
];
