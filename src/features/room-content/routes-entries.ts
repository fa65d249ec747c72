/** The REST endpoints of the entries of a room's stores. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { notFound } from "../../platform/errors.ts";
import { IfVersion, Json, JsonObject } from "../../room/protocol/messages.ts";
import type { RoomContext } from "../rooms/context.ts";
import { parseAddress, requestRoom } from "./commands.ts";
import { DeletedEntry, StoreEntry, WrittenEntry } from "./store-schema.ts";

const { endpoint } = endpointsFor<RoomContext>();

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

const common = { module: "Rooms", access: "organization", status: 200 } as const;
const ENTRY_PATH = "/rooms/:roomId/stores/:store/:key";

export const entryEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: ENTRY_PATH,
    operation: "getEntry",
    summary: "Get an entry of a store",
    details:
      "The response has the entry's `version`, for a later write with `ifVersion`. An entry that does not exist is `NOT_FOUND`.",
    errors: ["NOT_FOUND"],
    done: "Entry retrieved",
    data: StoreEntry,
    handle: async (ctx, { params }) => {
      const data = parseAddress(params);
      const request = { type: "STORE_GET", requestId: undefined, data } as const;
      const entry = await requestRoom<StoreEntry>(ctx, params.roomId, request);
      if (entry.version === 0) throw notFound("Rooms", "Entry");
      return entry;
    },
  }),
  endpoint({
    ...common,
    method: "PUT",
    path: ENTRY_PATH,
    operation: "setEntry",
    summary: "Set an entry of a store",
    details: "Connected users receive the same `storeChanged` event as after a participant's `STORE_SET`.",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: EntryWrite,
    done: "Entry set",
    data: WrittenEntry,
    handle: (ctx, { params, body }) => {
      const data = { ...parseAddress(params), ...body };
      return requestRoom(ctx, params.roomId, { type: "STORE_SET", requestId: undefined, data });
    },
  }),
  endpoint({
    ...common,
    method: "PATCH",
    path: ENTRY_PATH,
    operation: "updateEntry",
    summary: "Merge fields into an entry of a store",
    details: "Merges the top level. `CONFLICT` when the current value is not a JSON object.",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: EntryMerge,
    done: "Entry updated",
    data: WrittenEntry,
    handle: (ctx, { params, body }) => {
      const data = { ...parseAddress(params), ...body };
      return requestRoom(ctx, params.roomId, { type: "STORE_UPDATE", requestId: undefined, data });
    },
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: ENTRY_PATH,
    operation: "deleteEntry",
    summary: "Delete an entry of a store",
    details: "Deleting an entry that does not exist changes nothing.",
    errors: ["NOT_FOUND"],
    done: "Entry deleted",
    data: DeletedEntry,
    handle: (ctx, { params }) => {
      const data = parseAddress(params);
      return requestRoom(ctx, params.roomId, { type: "STORE_DELETE", requestId: undefined, data });
    },
  }),
];
