/** The endpoints of users. */

import { Room } from "@atrium/contract/resources/room.ts";
import { User, UserSession } from "@atrium/contract/resources/user.ts";
import {
  cursorShape,
  dates,
  flag,
  scrollShape,
  searching,
  timeParameter,
} from "@atrium/contract/rest/lists.ts";
import {
  FoundUser,
  InRoom,
  IssuedToken,
  ListedUser,
  Token,
  TokenCreation,
  UserCreation,
  UserUpdate,
  UserWithToken,
} from "@atrium/contract/rest/users.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { Replay } from "../../http/idempotency/receipt.ts";
import { following, scrolling, sorting, toPage } from "../../http/lists.ts";
import { claimsOf, TokenClaims } from "../../platform/token-claims.ts";
import {
  createToken,
  createUser,
  deleteUser,
  endAllTokens,
  endTokens,
  issueAgain,
  updateUser,
} from "./commands.ts";
import type { UserContext } from "./context.ts";
import { findUsersOfRooms, getRoomWithUsers, getUser, listUsers, restoreCreation } from "./queries.ts";

const { endpoint } = endpointsFor<UserContext>({ module: "Users" });

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

const seen = (end: "from" | "to") =>
  timeParameter(
    end,
    `Only users who were last seen at or ${end === "from" ? "after" : "before"} this time, of those of the room's latest 10,000 sessions; users who are online are seen now.`,
  );

const ofUsers = [
  endpoint({
    method: "GET",
    path: "/users",
    operation: "listUsers",
    sdk: [
      'users.list(roomId, filter?: UserSearch): Listed<"users", UserWithToken>',
      "users.each(roomId, filter?: UserSearch): each users as UserWithToken",
    ],
    right: "read",
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
      online: flag("Only users who are online, or only those who are not."),
      lastSeenFrom: seen("from"),
      lastSeenTo: seen("to"),
    }),
    done: "Users retrieved",
    data: z.object({ users: z.array(ListedUser), ...scrollShape }),
    handle: (ctx, { query }) => listUsers(ctx, query.roomId, toPage(query, orderOf(query)), query),
  }),
  endpoint({
    method: "POST",
    path: "/users",
    operation: "createUser",
    sdk: "users.create(user): user",
    summary: "Create a user and its token",
    details: "The token is a JWT, valid for 90 days; hand it to the client that joins the room as this user.",
    errors: ["NOT_FOUND"],
    conflict: [
      "Another user of the room has the `customId`.",
      "Read that user by its `customId`, or send another one.",
    ],
    replay: DERIVE_TOKEN,
    body: UserCreation,
    status: 201,
    done: "User created",
    data: z.object({ user: UserWithToken, token: Token }),
    handle: (ctx, { body }) => createUser(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/organization/users",
    operation: "findUsers",
    sdk: [
      'users.find(filter?: Pick<Search, "search"> & Pick<Scroll, "limit" | "after">): data',
      'users.eachFound(filter?: Pick<Search, "search">): each users',
    ],
    mayBeStale: true,
    summary: "Find users of all rooms by name",
    details:
      "Room by room, and by name in each. A request reads the names of at most 50,000 users, and those of large rooms by their index: while `cursor` is not null, a page may have fewer users than `limit`, or none, and the search goes on behind it. It does not say who is online: `GET /users` does, room by room.",
    query: z.object({
      ...following,
      ...searching("the user's name or at the start of its ID"),
    }),
    done: "Users retrieved",
    data: z.object({ users: z.array(FoundUser), ...cursorShape }),
    handle: (ctx, { query }) => findUsersOfRooms(ctx, toPage({ ...query, offset: 0 })),
  }),
  endpoint({
    method: "GET",
    path: "/users/custom/:customId",
    operation: "getUserByCustomId",
    sdk: "users.getByCustomId(roomId, customId): UserWithSessions",
    summary: "Get a user by its custom ID",
    details: "The response is the same as by the user's ID. A custom ID is unique in its room only.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "User retrieved",
    data: UserWithSessions,
    handle: (ctx, { params, query }) => getUser(ctx, query.roomId, { customId: params.customId }),
  }),
  endpoint({
    method: "GET",
    path: "/users/:userId",
    operation: "getUser",
    sdk: "users.get(roomId, userId): UserWithSessions",
    summary: "Get a user with its sessions",
    details: "Says whether the user is online, and lists its sessions, newest first.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "User retrieved",
    data: UserWithSessions,
    handle: (ctx, { params, query }) => getUser(ctx, query.roomId, { id: params.userId }),
  }),
  endpoint({
    method: "PATCH",
    path: "/users/:userId",
    operation: "updateUser",
    sdk: "users.update(roomId, userId, changes): user",
    summary: "Update a user",
    details: "Absent fields stay as they are. Everyone in the room receives `userUpdated`.",
    errors: ["NOT_FOUND"],
    conflict: [
      "Another user of the room has the `customId`.",
      "Read that user by its `customId`, or send another one.",
    ],
    query: InRoom,
    body: UserUpdate,
    done: "User updated",
    data: z.object({ user: UserWithToken }),
    handle: (ctx, { params, query, body }) => updateUser(ctx, query.roomId, params.userId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId",
    operation: "deleteUser",
    sdk: "users.delete(roomId, userId)",
    summary: "Delete a user",
    details: "Closes the user's sockets and ends its session. Its tokens are refused from then on.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "User deleted",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => deleteUser(ctx, query.roomId, params.userId),
  }),
];

const rooms = sorting("Rooms", "created_at", "name");

const UsersQuery = z.object({
  ...scrolling,
  ...rooms.parameter,
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

const ofRooms = [
  endpoint({
    method: "GET",
    path: "/rooms/custom/:customId",
    operation: "getRoomByCustomId",
    sdk: "rooms.getByCustomId(customId, users?: Search): RoomWithUsers",
    module: "Rooms",
    summary: "Get a room by its custom ID",
    details: USERS_DETAILS,
    errors: ["NOT_FOUND"],
    query: UsersQuery,
    done: "Room retrieved",
    data: RoomWithUsers,
    handle: (ctx, { params, query }) =>
      getRoomWithUsers(ctx, { customId: params.customId }, toPage(query, rooms.orderOf(query))),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId",
    operation: "getRoom",
    sdk: "rooms.get(roomId, users?: Search): RoomWithUsers",
    module: "Rooms",
    summary: "Get a room",
    details: USERS_DETAILS,
    errors: ["NOT_FOUND"],
    query: UsersQuery,
    done: "Room retrieved",
    data: RoomWithUsers,
    handle: (ctx, { params, query }) =>
      getRoomWithUsers(ctx, { id: params.roomId }, toPage(query, rooms.orderOf(query))),
  }),
];

/** The receipt keeps the token's claims, from which a token is signed again. */
const SIGN_AGAIN: Replay<UserContext> = {
  keep: (data) => {
    const { token, ...rest } = IssuedToken.parse(data);
    return { ...rest, claims: claimsOf(token) };
  },
  restore: (ctx, kept) => issueAgain(ctx, z.object({ claims: TokenClaims }).parse(kept).claims),
};

const ofTokens = [
  endpoint({
    method: "POST",
    path: "/users/:userId/tokens",
    operation: "createToken",
    isForAgents: false,
    sdk: "users.createToken(roomId, userId, token): data",
    summary: "Create a short-lived token",
    details:
      "A JWT like the user's `token`, but for `ttl` seconds and, if you like, a lower role. It is not stored. Signed-in members get at most an hour.",
    errors: ["NOT_FOUND"],
    replay: SIGN_AGAIN,
    query: InRoom,
    body: TokenCreation,
    status: 201,
    done: "Token created",
    data: IssuedToken,
    handle: (ctx, { params, query, body }) => createToken(ctx, query.roomId, params.userId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId/tokens",
    operation: "endTokens",
    isForAgents: false,
    sdk: "users.endTokens(roomId, userId)",
    summary: "End a user's tokens",
    details:
      "Refuses all tokens of the user so far, short-lived ones too, and closes the sockets that joined with them (`authFailed`, 4401). The user's `token` is a new one from then on, valid for 90 days.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "Tokens ended",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => endTokens(ctx, query.roomId, params.userId),
  }),
  endpoint({
    method: "DELETE",
    path: "/tokens",
    operation: "endAllTokens",
    isForAgents: false,
    right: "owner",
    sdk: "organization.endAllTokens()",
    summary: "End the tokens of all users",
    details:
      "The same for every user of the organization, for example after a leak. Only owners and API keys can do this. With more than 200 rooms online, the sockets of the others close within minutes.",
    done: "All tokens ended",
    data: z.object({}),
    audit: { resource: "tokens" },
    handle: (ctx) => endAllTokens(ctx),
  }),
];

export const endpoints = [...ofRooms, ...ofUsers, ...ofTokens];
