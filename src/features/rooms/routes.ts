/** The endpoints of rooms. Endpoints that return a room with its users are in `users/routes.ts`. */

import { Room, RoomState } from "@atrium/contract/resources/room.ts";
import { dates, flag, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import { ListedRoom, RoomCreation, RoomUpdate } from "@atrium/contract/rest/rooms.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import { createRoom, deleteRoom, reconcileRoom, updateRoom } from "./commands.ts";
import type { RoomContext } from "./context.ts";
import { listRooms } from "./queries.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const { parameter: sort, orderOf } = sorting("Rooms", "created_at", "name", "last_active_at");

const TAKEN_CUSTOM_ID = [
  "Another room of the organization has the `customId`.",
  "Read that room by its `customId`, or send another one.",
] as const;

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/rooms",
    operation: "listRooms",
    sdk: ["rooms.list(filter?: RoomSearch): data", "rooms.each(filter?: RoomSearch): each rooms"],
    mayBeStale: true,
    summary: "List rooms",
    details:
      "Newest first, or in the order of `sort`. The counters and `last_active_at` are at most 2 seconds behind the live room.",
    query: z.object({
      ...scrolling,
      ...sort,
      ...searching("the room's name"),
      ...dates,
      state: RoomState.optional().meta({ description: "Only rooms in this state." }),
      online: flag("Only rooms with users online, or only those without."),
    }),
    done: "Rooms retrieved",
    data: z.object({ rooms: z.array(ListedRoom), ...scrollShape }),
    handle: (ctx, { query }) =>
      listRooms(ctx, {
        ...toPage(query, orderOf(query)),
        state: query.state,
        isOnline: query.online,
      }),
  }),
  endpoint({
    method: "POST",
    path: "/rooms",
    operation: "createRoom",
    sdk: "rooms.create(room): room",
    summary: "Create a room",
    details: "The room is empty and active. `FORBIDDEN` above the quota of rooms.",
    conflict: TAKEN_CUSTOM_ID,
    body: RoomCreation,
    status: 201,
    done: "Room created",
    data: z.object({ room: Room }),
    handle: (ctx, { body }) => createRoom(ctx, body),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId",
    operation: "updateRoom",
    sdk: "rooms.update(roomId, changes): room",
    summary: "Update, close or reopen a room",
    details:
      "Closing a room ends its sessions and closes its sockets. Joins are refused until the state is `active` again. `limits` hold when this returns, also for open connections.",
    errors: ["NOT_FOUND"],
    conflict: TAKEN_CUSTOM_ID,
    body: RoomUpdate,
    done: "Room updated",
    data: z.object({ room: Room }),
    handle: (ctx, { params, body }) => updateRoom(ctx, params.roomId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId",
    operation: "deleteRoom",
    sdk: "rooms.delete(roomId)",
    summary: "Delete a room with its users and everything in it",
    details:
      "Closes the room's sockets, and refuses its users' tokens from then on. A deletion cannot be undone; closing a room keeps its data.",
    errors: ["NOT_FOUND"],
    done: "Room deleted",
    data: z.object({}),
    audit: { resource: "room", id: ({ params }) => params.roomId },
    handle: (ctx, { params }) => deleteRoom(ctx, params.roomId),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/reconcile",
    operation: "reconcileRoom",
    sdk: "rooms.reconcile(roomId): Reconciliation",
    summary: "Recount the users online in a room",
    details: "Safe at any time. If the counter was correct, both numbers are equal.",
    errors: ["NOT_FOUND"],
    done: "Room reconciled",
    data: z.object({
      room: Room,
      previous_active_participants: z
        .int()
        .meta({ description: "The counter before the recount.", minimum: 0, example: 0 }),
      reconciled_active_participants: z
        .int()
        .meta({ description: "The number of users online.", minimum: 0, example: 0 }),
    }),
    handle: (ctx, { params }) => reconcileRoom(ctx, params.roomId),
  }),
];
