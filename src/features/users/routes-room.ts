/** The endpoints that return a room with its users. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { dates, scrolling, searching, toPage } from "../../http/lists/paginate.ts";
import { scrollShape } from "../../http/lists/presented-page.ts";
import { sorting } from "../../http/lists/sorting.ts";
import { Room } from "../../wire/room.ts";
import { User } from "../../wire/user.ts";
import type { UserContext } from "./context.ts";
import { getRoomWithUsers } from "./list-queries.ts";

const { endpoint } = endpointsFor<UserContext>();

const { parameter: sort, orderOf } = sorting("Rooms", "created_at", "name");

const UsersQuery = z.object({
  ...scrolling,
  ...sort,
  ...searching("the user's name or at the start of its ID"),
  ...dates,
});

const RoomWithUsers = z.object({
  room: Room.meta({ description: "The room, with its live stats." }),
  users: z.array(User),
  usersTotal: scrollShape.total,
  limit: scrollShape.limit,
  offset: scrollShape.offset,
  cursor: scrollShape.cursor,
});

const USERS_DETAILS = "The query parameters filter and order the users only. The room's stats are live.";

export const roomWithUsersEndpoints = [
  endpoint({
    method: "GET",
    path: "/rooms/custom/:customId",
    operation: "getRoomByCustomId",
    module: "Rooms",
    access: "organization",
    summary: "Get a room by its custom ID",
    details: USERS_DETAILS,
    errors: ["NOT_FOUND"],
    query: UsersQuery,
    status: 200,
    done: "Room retrieved",
    data: RoomWithUsers,
    handle: (ctx, { params, query }) =>
      getRoomWithUsers(ctx, { customId: params.customId }, toPage(query, orderOf(query))),
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
    handle: (ctx, { params, query }) =>
      getRoomWithUsers(ctx, { id: params.roomId }, toPage(query, orderOf(query))),
  }),
];
