/** The endpoints for API keys. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import { scrolling, scrollShape, sorting, toPage } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import { createApiKey, revokeApiKey } from "./commands.ts";
import { listApiKeys } from "./queries.ts";
import { ApiKey, ApiKeyCreation } from "./schema.ts";

const { endpoint } = endpointsFor<RequestContext & QuotaContext>({
  module: "Accounts",
  database: "directory",
});

const { parameter: sort, orderOf } = sorting("Accounts", "created_at", "name", "last_used_at");

export const accountEndpoints = [
  endpoint({
    method: "GET",
    path: "/api-keys",
    operation: "listApiKeys",
    summary: "List API keys",
    details:
      "Newest first, or in the order of `sort`: of names without regard to the case of ASCII letters, and keys that were never used before all others.",
    query: z.object({ ...scrolling, ...sort }),
    done: "API keys retrieved",
    data: z.object({ api_keys: z.array(ApiKey), ...scrollShape }),
    handle: (ctx, { query }) => listApiKeys(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    method: "POST",
    path: "/api-keys",
    operation: "createApiKey",
    summary: "Create an API key",
    details: "`key` is shown only once; a retry with the same Idempotency-Key gets 409.",
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    body: ApiKeyCreation,
    status: 201,
    done: "API key created",
    data: z.object({ api_key: ApiKey, key: z.string().meta({ example: "atrium_sk_2Xv9…k3Qz" }) }),
    audit: { resource: "api_key", created: ({ api_key }) => api_key.id, shows: ["name"] },
    handle: (ctx, { body }) => createApiKey(ctx, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/api-keys/:keyId",
    operation: "revokeApiKey",
    summary: "Revoke an API key",
    details:
      "Takes effect within 10 seconds everywhere. Ends what the key made, too: API keys, and what these made, invitations and links for a new password. Users and their tokens stay: end those with `endAllTokens`. The key that makes the request cannot revoke itself, and stays if the revoked key made it, so that a key can be replaced.",
    errors: ["NOT_FOUND"],
    conflict: ["The key makes this request itself.", "Revoke it with another key, or in the dashboard."],
    done: "API key revoked",
    data: z.object({}),
    audit: { resource: "api_key", id: ({ params }) => params.keyId },
    handle: (ctx, { params }) => revokeApiKey(ctx, params.keyId),
  }),
];
