/** The endpoints of users. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { Replay } from "../../http/idempotency/replay.ts";
import { dates, scrolling, searching, toPage } from "../../http/lists/paginate.ts";
import { scrollShape } from "../../http/lists/presented-page.ts";
import { sorting } from "../../http/lists/sorting.ts";
import { User, UserSession } from "../../wire/user.ts";
import { createUser, updateUser } from "./commands.ts";
import type { UserContext } from "./context.ts";
import { deleteUser } from "./deletion-commands.ts";
import { listUsers } from "./list-queries.ts";
import { presenceFilter } from "./presence-filter.ts";
import { getUser } from "./queries.ts";
import { InRoom, ListedUser, Token, UserCreation, UserUpdate, UserWithToken } from "./schema.ts";
import { restoreCreation } from "./shown-token.ts";

const { endpoint } = endpointsFor<UserContext>();

const { parameter: sort, orderOf } = sorting("Users", "created_at", "name");

const UserWithSessions = z.object({
  user: UserWithToken,
  sessions: z.array(UserSession).meta({ description: "Newest first, at most 100." }),
});

/** The receipt keeps no token, because it can be derived again from the user. */
const DERIVE_TOKEN: Replay<UserContext> = {
  keep: (data) => ({ user: User.parse((data as { user: unknown }).user) }),
  restore: (ctx, kept) => restoreCreation(ctx, User.parse((kept as { user: unknown }).user)),
};

export const userEndpoints = [
  endpoint({
    method: "GET",
    path: "/users",
    operation: "listUsers",
    module: "Users",
    access: "member",
    mayBeStale: true,
    summary: "List a room's users",
    details:
      "Newest first, or in the order of `sort`. With a user's JWT, only its own room can be listed, and only its own `token` is shown.",
    errors: ["NOT_FOUND"],
    query: InRoom.extend({
      ...scrolling,
      ...sort,
      ...searching("the user's name or at the start of its ID"),
      ...dates,
      ...presenceFilter,
    }),
    status: 200,
    done: "Users retrieved",
    data: z.object({ users: z.array(ListedUser), ...scrollShape }),
    handle: (ctx, { query }) => listUsers(ctx, query.roomId, toPage(query, orderOf(query)), query),
  }),
  endpoint({
    method: "POST",
    path: "/users",
    operation: "createUser",
    module: "Users",
    access: "organization",
    summary: "Create a user and its token",
    details: "The token is a JWT, valid for 90 days; hand it to the client that joins the room as this user.",
    errors: ["NOT_FOUND", "CONFLICT"],
    replay: DERIVE_TOKEN,
    body: UserCreation,
    status: 201,
    done: "User created",
    data: z.object({ user: UserWithToken, token: Token }),
    handle: (ctx, { body }) => createUser(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/users/custom/:customId",
    operation: "getUserByCustomId",
    module: "Users",
    access: "organization",
    summary: "Get a user by its custom ID",
    details: "The response is the same as by the user's ID. A custom ID is unique in its room only.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    status: 200,
    done: "User retrieved",
    data: UserWithSessions,
    handle: (ctx, { params, query }) => getUser(ctx, query.roomId, { customId: params.customId }),
  }),
  endpoint({
    method: "GET",
    path: "/users/:userId",
    operation: "getUser",
    module: "Users",
    access: "organization",
    summary: "Get a user with its sessions",
    details: "Says whether the user is online, and lists its sessions, newest first.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    status: 200,
    done: "User retrieved",
    data: UserWithSessions,
    handle: (ctx, { params, query }) => getUser(ctx, query.roomId, { id: params.userId }),
  }),
  endpoint({
    method: "PATCH",
    path: "/users/:userId",
    operation: "updateUser",
    module: "Users",
    access: "organization",
    summary: "Update a user",
    details:
      "Absent fields stay as they are. Everyone in the room receives `userUpdated`. `CONFLICT` when another user of the room has the `customId`.",
    errors: ["NOT_FOUND", "CONFLICT"],
    query: InRoom,
    body: UserUpdate,
    status: 200,
    done: "User updated",
    data: z.object({ user: UserWithToken }),
    handle: (ctx, { params, query, body }) => updateUser(ctx, query.roomId, params.userId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId",
    operation: "deleteUser",
    module: "Users",
    access: "organization",
    summary: "Delete a user",
    details: "Closes the user's sockets and ends its session. Its tokens are refused from then on.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    status: 200,
    done: "User deleted",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => deleteUser(ctx, query.roomId, params.userId),
  }),
];
