/** The endpoints of a room's stores. */

import { notFound } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { IfVersion, Key, StoreBatch } from "@atrium/contract/operations/stores.ts";
import { BatchRequestId, Json, JsonObject } from "@atrium/contract/operations/values.ts";
import {
  DeletedEntry,
  StoreEntry,
  StorePage,
  StoreSummary,
  WrittenEntry,
} from "@atrium/contract/resources/store.ts";
import { wholeNumber } from "@atrium/contract/rest/documents.ts";
import { limitOf } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { ErrorDetail } from "../../http/envelope.ts";
import type { RoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { callRoom, parseAddress, writeStores } from "./commands.ts";

const { endpoint, rawEndpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const StoreQuery = z.object({
  after: Key.optional().meta({ description: "Only the entries after this key." }),
  limit: limitOf(LIMITS.pageEntries, LIMITS.pageEntries, "entries"),
});

/** JSON, because Cloudflare compresses it. Pages of any origin may read it: the address is the secret. */
const DOWNLOAD_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

const ofStores = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/stores",
    operation: "listStores",
    sdk: "stores.list(roomId): stores",
    right: "read",
    summary: "List a room's stores",
    details: "In the order of their names, with the size of each. A store without entries is not listed.",
    errors: ["NOT_FOUND"],
    done: "Stores retrieved",
    data: z.object({ stores: z.array(StoreSummary) }),
    handle: (ctx, { params }) => callRoom(ctx, params.roomId, "STORE_LIST", {}),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/stores/:store",
    operation: "getStore",
    sdk: "stores.getPage(roomId, store, page?: EntryPage): data",
    right: "read",
    summary: "Get the entries of a store, page by page",
    details: `In the order of their keys. A page has at most about 1 MiB, and at least one entry; pass its \`next\` as \`after\` to get the page that follows. The last page has no \`next\`.

A store that does not exist yet is empty.`,
    errors: ["NOT_FOUND"],
    query: StoreQuery,
    done: "Store retrieved",
    data: StorePage,
    handle: (ctx, { params, query }) => {
      const data = { store: parseAddress(params).store, ...query };
      return callRoom(ctx, params.roomId, "STORE_SYNC", data);
    },
  }),
  rawEndpoint({
    method: "GET",
    path: "/rooms/:roomId/downloads/:downloadId",
    operation: "downloadStore",
    insteadOfSdk: "`AtriumClient` of `atrium/client` downloads a large store by itself in `sync()`.",
    right: "public",
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

const ifVersion = IfVersion.meta({
  description:
    "The version that the entry must have, 0 if it must not exist; otherwise the response is `CONFLICT`.",
});

const EntryWrite = z
  .strictObject({ value: Json.meta({ description: "Any JSON, at most 192 KiB." }), ifVersion })
  .meta({ id: "EntryWrite", example: { value: { title: "Buy milk", done: false } } });
const EntryMerge = z
  .strictObject({ value: JsonObject.meta({ description: "The fields to set." }), ifVersion })
  .meta({ id: "EntryMerge", example: { value: { done: true } } });

const ENTRY_PATH = "/rooms/:roomId/stores/:store/:key";

const ofEntries = [
  endpoint({
    method: "GET",
    path: ENTRY_PATH,
    operation: "getEntry",
    sdk: "stores.get(roomId, store, key): data",
    right: "read",
    summary: "Get an entry of a store",
    details:
      "The response has the entry's `version`, for a later write with `ifVersion`. An entry that does not exist is `NOT_FOUND`.",
    errors: ["NOT_FOUND"],
    done: "Entry retrieved",
    data: StoreEntry,
    handle: async (ctx, { params }) => {
      const entry = await callRoom(ctx, params.roomId, "STORE_GET", parseAddress(params));
      if (entry.version === 0) throw notFound("Rooms", "Entry");
      return entry;
    },
  }),
  endpoint({
    method: "PUT",
    path: ENTRY_PATH,
    operation: "setEntry",
    sdk: "stores.set(roomId, store, key, value, options?: WriteOptions): data",
    right: "stores:write",
    summary: "Set an entry of a store",
    details: "Connected users receive the same `storeChanged` event as after a participant's `STORE_SET`.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The entry has another version than `ifVersion`.",
      "Read the entry, make the change again, and send its version.",
    ],
    body: EntryWrite,
    done: "Entry set",
    data: WrittenEntry,
    handle: (ctx, { params, body }) => {
      const data = { ...parseAddress(params), ...body };
      return callRoom(ctx, params.roomId, "STORE_SET", data);
    },
  }),
  endpoint({
    method: "PATCH",
    path: ENTRY_PATH,
    operation: "updateEntry",
    sdk: "stores.update(roomId, store, key, value, options?: WriteOptions): data",
    right: "stores:write",
    summary: "Merge fields into an entry of a store",
    details: "Merges the top level.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The entry has another version than `ifVersion`, or its value is no JSON object.",
      "Read the entry, make the change again, and send its version; set a value that is no object as a whole.",
    ],
    body: EntryMerge,
    done: "Entry updated",
    data: WrittenEntry,
    handle: (ctx, { params, body }) => {
      const data = { ...parseAddress(params), ...body };
      return callRoom(ctx, params.roomId, "STORE_UPDATE", data);
    },
  }),
  endpoint({
    method: "DELETE",
    path: ENTRY_PATH,
    operation: "deleteEntry",
    sdk: "stores.delete(roomId, store, key, options?: WriteOptions)",
    right: "stores:write",
    summary: "Delete an entry of a store",
    details: "Deleting an entry that does not exist changes nothing.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The entry has another version than `ifVersion`.",
      "Read the entry, and send its version if it is still to be deleted.",
    ],
    query: z.object({
      ifVersion: wholeNumber.optional().meta({
        description: "The version that the entry must have; otherwise the response is `CONFLICT`.",
        override: { type: "integer", minimum: 0 },
      }),
    }),
    done: "Entry deleted",
    data: DeletedEntry,
    handle: (ctx, { params, query }) => {
      const data = { ...parseAddress(params), ...query };
      return callRoom(ctx, params.roomId, "STORE_DELETE", data);
    },
  }),
];

const OPERATIONS: Record<string, unknown> = {
  type: "array",
  minItems: 1,
  maxItems: LIMITS.batchOperations,
  description: "In order. `value` is left out of `STORE_DELETE`.",
  items: {
    type: "object",
    required: ["type", "store", "key"],
    properties: {
      type: { type: "string", enum: ["STORE_SET", "STORE_UPDATE", "STORE_DELETE"] },
      store: { type: "string", minLength: 1, maxLength: 128 },
      key: { type: "string", minLength: 1, maxLength: 255 },
      value: { description: "Any JSON; an object for `STORE_UPDATE`." },
      ifVersion: { type: "integer", minimum: 0 },
    },
  },
};

const Batch = StoreBatch.extend({
  requestId: BatchRequestId.meta({
    description:
      "Identifies the batch to the room: it is carried out once, over this endpoint and the socket.",
  }),
  operations: StoreBatch.shape.operations.meta({ override: OPERATIONS }),
  atomic: StoreBatch.shape.atomic.meta({
    description: "False: each operation succeeds or fails by itself.",
  }),
}).strict();

const Batches = z.strictObject({ requests: z.array(Batch).min(1).max(LIMITS.batches) }).meta({
  id: "StoreBatches",
  example: {
    requests: [
      {
        requestId: "4fcb1a47-7d3f-4a0c-9d35-0f3ff1b5a6a0",
        operations: [{ type: "STORE_SET", store: "tasks", key: "milk", value: { title: "Buy milk" } }],
        atomic: true,
      },
    ],
  },
});

const Result = z.object({
  version: z.int().optional().meta({ description: "The entry's new version; left out after a deletion." }),
  seq: z.int().optional().meta({ description: "The change that was made; left out if it was refused." }),
  error: ErrorDetail.optional().meta({ description: "Why an operation was refused by itself." }),
});

const BatchResponse = z.object({
  requestId: BatchRequestId,
  success: z.boolean(),
  data: z.object({ results: z.array(Result).optional(), seq: z.int().optional() }),
  error: ErrorDetail.nullable(),
});

const ofBatches = [
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/stores/batch",
    operation: "writeStores",
    isForAgents: false,
    sdk: "stores.batch(roomId, requests: readonly StoreBatch[]): responses as readonly BatchResponse[]",
    right: "stores:write",
    summary: "Apply batches of writes to a room's stores",
    details: `Takes 1 to ${LIMITS.batches} batches and answers each by itself, in order: one that is refused does not stop the next.
A batch is remembered under its \`requestId\` for its sender, as \`STORE_BATCH\` over the socket is: sent again, or sent over both, it is carried out once and gets the same response.
The batches of a request write about 3 MiB of keys and values together; further ones are refused with \`RATE_LIMITED\` and can be sent again.
So a page that is being closed can send what is left by a \`keepalive\` request.

A user's JWT writes as that user, in its own room; viewers cannot write, and a closed room rejects users with 403.`,
    errors: ["NOT_FOUND"],
    body: Batches,
    done: "Batches applied",
    data: z.object({ responses: z.array(BatchResponse) }),
    handle: async (ctx, { params, body }) => {
      const responses = await writeStores(ctx, params.roomId, body.requests);
      return {
        responses: responses.map(({ requestId = "", success, data, error }) => {
          return { requestId, success, data, error };
        }),
      };
    },
  }),
];

export const endpoints = [...ofBatches, ...ofStores, ...ofEntries];
