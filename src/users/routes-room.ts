/** The endpoints that show a room together with its users. */
import * as z from "zod";
import { endpointsFor } from "../http/endpoint.ts";
import { dates, pageShape, paging, searching, toPage } from "../http/paginate.ts";
import { Room } from "../rooms/schema.ts";
import type { UserContext } from "./context.ts";
import { getRoomWithUsers } from "./queries.ts";
import { User } from "./schema.ts";

const { endpoint } = endpointsFor<UserContext>();

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

export const roomWithUsersEndpoints = [
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
    handle: (ctx, { params, query }) => getRoomWithUsers(ctx, { customId: params.customId }, toPage(query)),
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
    handle: (ctx, { params, query }) => getRoomWithUsers(ctx, { id: params.roomId }, toPage(query)),
  }),
];
