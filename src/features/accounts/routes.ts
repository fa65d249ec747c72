/** The endpoints for API keys. */

import { ApiKey, ApiKeyCreation } from "@atrium/contract/rest/api-keys.ts";
import { scrollShape } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import type { RoomNaming } from "../../platform/narrowing.ts";
import { createApiKey, type KeyContext, revokeApiKey } from "./commands.ts";
import { listApiKeys } from "./queries.ts";

const { endpoint } = endpointsFor<KeyContext>({
  module: "Accounts",
  database: "directory",
});

const { parameter: sort, orderOf } = sorting("Accounts", "created_at", "name", "last_used_at");

const textOf = (name: RoomNaming): string => (typeof name === "string" ? name : JSON.stringify(name));

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/api-keys",
    operation: "listApiKeys",
    isForAgents: false,
    sdk: [
      "organization.listKeys(page?: KeySearch): data",
      "organization.eachKey(filter?: KeySearch): each api_keys",
    ],
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
    isForAgents: false,
    right: "owner",
    sdk: "organization.createKey(name?, narrowing?: ApiKeyNarrowing): data",
    summary: "Create an API key",
    details:
      "`key` is shown only once; a retry with the same Idempotency-Key gets 409. With `permissions` or `rooms`, the key is narrowed: it acts on the content of these rooms alone, as far as the permissions go, and can neither read nor change anything else of the organization. Both stay as they are; a key with other rights is another key.",
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    body: ApiKeyCreation,
    status: 201,
    done: "API key created",
    data: z.object({ api_key: ApiKey, key: z.string().meta({ example: "atrium_sk_2Xv9…k3Qz" }) }),
    audit: {
      resource: "api_key",
      created: ({ api_key }) => api_key.id,
      shows: ["name"],
      detail: ({ body: { permissions, rooms } }) => ({
        ...(permissions && { permissions: permissions.join(" ") }),
        ...(rooms && { rooms: rooms.map(textOf).join(" ") }),
      }),
    },
    handle: (ctx, { body }) => createApiKey(ctx, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/api-keys/:keyId",
    operation: "revokeApiKey",
    isForAgents: false,
    right: "owner",
    sdk: "organization.revokeKey(keyId)",
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
