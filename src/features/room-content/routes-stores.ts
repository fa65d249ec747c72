/** The endpoints of a room's stores. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { notFound } from "../../platform/errors.ts";
import { MAX_PAGE_ENTRIES } from "../../room/protocol/limits.ts";
import { Key } from "../../room/protocol/messages.ts";
import type { RoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { parseAddress, requestRoom } from "./commands.ts";
import { StorePage, StoreSummary } from "./store-schema.ts";

const { endpoint, rawEndpoint } = endpointsFor<RoomContext>();

const StoreQuery = z.object({
  after: Key.optional().meta({ description: "Only the entries after this key." }),
  limit: z
    .string()
    .refine((value) => /^[0-9]+$/.test(value) && Number(value) >= 1, "must be a whole number of at least 1")
    .transform((value) => Math.min(Number(value), MAX_PAGE_ENTRIES))
    .default(MAX_PAGE_ENTRIES)
    .meta({
      description: `The most entries to return. Values above ${MAX_PAGE_ENTRIES} count as ${MAX_PAGE_ENTRIES}.`,
      override: { type: "integer", minimum: 1, default: MAX_PAGE_ENTRIES },
    }),
});

const common = { module: "Rooms", access: "organization", status: 200 } as const;

/**
 * JSON, which Cloudflare compresses on its way, where no object waits for it. Pages of any
 * origin may read it: the address is the secret.
 */
const DOWNLOAD_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

export const storeEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/rooms/:roomId/stores",
    operation: "listStores",
    summary: "List a room's stores",
    details: "In the order of their names, with the size of each. A store without entries is not listed.",
    errors: ["NOT_FOUND"],
    done: "Stores retrieved",
    data: z.object({ stores: z.array(StoreSummary) }),
    handle: (ctx, { params }) => requestRoom(ctx, params.roomId, { type: "STORE_LIST" }),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: "/rooms/:roomId/stores/:store",
    operation: "getStore",
    summary: "Get the entries of a store, page by page",
    details: `In the order of their keys. A page has at most about 1 MiB, and at least one entry; pass its \`next\` as \`after\` to get the page that follows. The last page has no \`next\`.

A store that does not exist yet is empty.`,
    errors: ["NOT_FOUND"],
    query: StoreQuery,
    done: "Store retrieved",
    data: StorePage,
    handle: (ctx, { params, query }) => {
      const data = { store: parseAddress(params).store, ...query };
      return requestRoom(ctx, params.roomId, { type: "STORE_SYNC", requestId: undefined, data });
    },
  }),
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/downloads/:downloadId",
    operation: "downloadStore",
    module: "Rooms",
    access: "public",
    summary: "Download the next part of a large store",
    details:
      "For clients of a room's WebSocket, which gives a client that has joined the id of a download: each request reads the next part, while that socket is open. The repository's `docs/protocol.md` says how a client combines the parts with the changes that arrive meanwhile.",
    errors: ["NOT_FOUND"],
    answers: { 200: "JSON: the next part of the store." },
    respond: async (ctx, { params }) => {
      const { id } = await getRoomRow(ctx, params.roomId);
      const part = await ctx.rooms.download(id, params.downloadId);
      if (part === null) throw notFound("Rooms", "Download");
      return new Response(part, { headers: DOWNLOAD_HEADERS });
    },
  }),
];
