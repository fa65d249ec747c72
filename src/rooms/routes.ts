/** The endpoints of rooms. */
import * as z from "zod";
import { endpoint } from "../http/endpoint.ts";
import { dates, pageShape, paging, searching, toPage } from "../http/paginate.ts";
import { User } from "../users/schema.ts";
import { createRoom, deleteRoom, reconcileRoom, updateRoom } from "./commands.ts";
import { getRoom, listRooms } from "./queries.ts";
import { Room, RoomCreation, RoomUpdate } from "./schema.ts";

const UsersQuery = z.object({ ...paging, ...searching("a user's name, or the start of its id"), ...dates });

const RoomWithUsers = z.object({
  room: Room.meta({ description: "With the live figures of the room." }),
  users: z.array(User),
  usersTotal: pageShape.total,
  limit: pageShape.limit,
  offset: pageShape.offset,
});

const USERS_DETAILS =
  "The query applies to the list of users only. The figures of the room are those of this moment.";

export const roomEndpoints = [
  endpoint({
    method: "GET",
    path: "/rooms",
    operation: "listRooms",
    module: "Rooms",
    access: "organization",
    summary: "List rooms",
    details: "Newest first. The counters are at most 2 seconds behind the live room.",
    errors: [],
    query: z.object({ ...paging, ...searching("the room's name"), ...dates }),
    status: 200,
    done: "Rooms retrieved",
    data: z.object({ rooms: z.array(Room), ...pageShape }),
    handle: (ctx, { query }) => listRooms(ctx, toPage(query)),
  }),
  endpoint({
    method: "POST",
    path: "/rooms",
    operation: "createRoom",
    module: "Rooms",
    access: "organization",
    summary: "Create a room",
    errors: ["CONFLICT"],
    body: RoomCreation,
    status: 201,
    done: "Room created",
    data: z.object({ room: Room }),
    handle: (ctx, { body }) => createRoom(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/custom/:customId",
    operation: "getRoomByCustomId",
    module: "Rooms",
    access: "organization",
    summary: "Get a room by your own id",
    details: USERS_DETAILS,
    errors: ["NOT_FOUND"],
    query: UsersQuery,
    status: 200,
    done: "Room retrieved",
    data: RoomWithUsers,
    handle: (ctx, { params, query }) => getRoom(ctx, { customId: params.customId }, toPage(query)),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId",
    operation: "getRoom",
    module: "Rooms",
    access: "organization",
    summary: "Get a room",
    details: USERS_DETAILS,
    errors: ["NOT_FOUND"],
    query: UsersQuery,
    status: 200,
    done: "Room retrieved",
    data: RoomWithUsers,
    handle: (ctx, { params, query }) => getRoom(ctx, { id: params.roomId }, toPage(query)),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId",
    operation: "updateRoom",
    module: "Rooms",
    access: "organization",
    summary: "Change a room, close it or open it again",
    details:
      "Closing ends the open sessions and closes the sockets; joining is refused until the state is `active` again.",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: RoomUpdate,
    status: 200,
    done: "Room updated",
    data: z.object({ room: Room }),
    handle: (ctx, { params, body }) => updateRoom(ctx, params.roomId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId",
    operation: "deleteRoom",
    module: "Rooms",
    access: "organization",
    summary: "Delete a room with its users and everything in it",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Room deleted",
    data: z.object({}),
    handle: (ctx, { params }) => deleteRoom(ctx, params.roomId),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/reconcile",
    operation: "reconcileRoom",
    module: "Rooms",
    access: "organization",
    summary: "Set a room's counter to the users really online",
    details: "Safe at any time. When the counter was right already, both numbers are equal.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Room reconciled",
    data: z.object({
      room: Room,
      previous_active_participants: z
        .int()
        .meta({ description: "The counter before.", minimum: 0, example: 0 }),
      reconciled_active_participants: z
        .int()
        .meta({ description: "The users online.", minimum: 0, example: 0 }),
    }),
    handle: (ctx, { params }) => reconcileRoom(ctx, params.roomId),
  }),
];
