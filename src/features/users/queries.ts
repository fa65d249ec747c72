/** Reads single users: rows from D1, who is online from the room's object. */
import * as z from "zod";
import { type PresentedScroll, presentScroll, timeParameter } from "../../http/lists.ts";
import { requireRoomAccess } from "../../platform/d1/context.ts";
import type { Database, Page, Statement, Tenant } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import { presentRoom, type Room } from "../../wire/room.ts";
import {
  isTokenOf,
  newTerms,
  requireRestored,
  type TokenClaims,
  type TokenSubject,
} from "../../wire/token-claims.ts";
import { presentSession, presentUser, type User, type UserSession } from "../../wire/user.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { type RoomKey, selectRoom } from "../rooms/statements.ts";
import type { RoomRow } from "../rooms/table.ts";
import { findHits } from "../search/queries.ts";
import type { UserContext } from "./context.ts";
import type { ListedUser, UserWithToken } from "./schema.ts";
import { selectAccountTokenEpoch, selectExistingUsers, selectUser, type UserKey } from "./statements.ts";
import { countUsers, type NamedUsers, positionOf, type RoomOfUsers, selectUsers } from "./store.ts";
import type { UserRow } from "./table.ts";

/** A user with its token and latest sessions, newest first. One D1 round trip and one object call. */
export async function getUser(
  ctx: UserContext,
  roomId: string,
  key: UserKey,
): Promise<{ user: UserWithToken; sessions: UserSession[] }> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, key)]);
  if (row === undefined) throw notFound("Users", "User");
  return presentWithSessions(ctx, row);
}

/** A user without its token; null when there is none. */
export async function findUser(ctx: LiveRoomContext, roomId: string, userId: string): Promise<User | null> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  if (row === undefined) return null;
  const { lastSeen } = await ctx.rooms.read(roomId, ctx.accountId, [userId]);
  return presentUser(row, lastSeen[userId]);
}

/** Presents a user's row with its token and latest sessions. One object call. */
export async function presentWithSessions(
  ctx: UserContext,
  row: UserRow,
): Promise<{ user: UserWithToken; sessions: UserSession[] }> {
  const [live, token] = await Promise.all([
    ctx.rooms.stub(row.roomId).readUser(ctx.accountId, row.id),
    shownToken(ctx, row),
  ]);
  return {
    user: { ...presentUser(row, live.lastSeen ?? undefined), token },
    sessions: live.sessions.map(presentSession),
  };
}

/**
 * The current row of a token's user; null when the user is deleted or no longer matches the claims. RATE_LIMITED while
 * the organization is being restored.
 */
export async function findTokenBearer(db: Database, claims: TokenClaims): Promise<UserRow | null> {
  const tenant = { db, accountId: claims.accountId };
  const [[user]] = await db.run([selectUser(tenant, claims.roomId, { id: claims.userId })]);
  requireRestored(user?.accountTokenEpoch ?? (await findAccountTokenEpoch(tenant)));
  return user !== undefined && isTokenOf(claims, user) ? user : null;
}

/** The statements that read a page of a room's users and count all that match. A search asks the index first. */
export async function selectUsersPage(
  tenant: Tenant,
  room: RoomOfUsers,
  page: Page,
  named: NamedUsers | null = null,
) {
  const list = { accountId: tenant.accountId, ...room };
  const hits = await findHits(tenant.db, list, { text: page.search, withIds: true });
  const searched = { ...page, hits, named };
  return [selectUsers(tenant, room, searched), countUsers(tenant, room, searched)] as const;
}

/** A page of the rows of a room's users, newest first, and how many match. One round trip. */
export async function findUsers(
  tenant: Tenant,
  roomId: string,
  page: Page,
): Promise<{ readonly users: readonly UserRow[]; readonly total: number }> {
  const [users, counted] = await tenant.db.run(await selectUsersPage(tenant, { roomId }, page));
  return { users, total: counted[0]?.total ?? 0 };
}

/** A room with its live stats and a page of its users. One D1 round trip and one object call. */
export async function getRoomWithUsers(
  ctx: UserContext,
  key: RoomKey,
  page: Page,
): Promise<{ room: Room; users: User[]; usersTotal: number } & Omit<PresentedScroll, "total">> {
  const [rooms, users, counted] = await ctx.db.run([
    selectRoom(ctx, key),
    ...(await selectUsersPage(ctx, "id" in key ? { roomId: key.id } : { roomCustomId: key.customId }, page)),
  ]);
  const row = rooms[0];
  if (row === undefined) throw notFound("Rooms", "Room");
  const live = await ctx.rooms.read(
    row.id,
    ctx.accountId,
    users.map((user) => user.id),
  );
  const { total: usersTotal, ...shown } = presentScroll(page, counted, users, positionOf(page));
  return {
    room: presentRoom(row, ctx.now(), live.stats),
    users: users.map((user) => presentUser(user, live.lastSeen[user.id])),
    usersTotal,
    ...shown,
  };
}

/**
 * A page of a room's users. The organization sees every token; a user sees only its own, because
 * with another's it could act as that user. NOT_FOUND when the room does not exist.
 */
export async function listUsers(
  ctx: UserContext,
  roomId: string,
  page: Page,
  filter: PresenceFilter = {},
): Promise<{ users: ListedUser[] } & PresentedScroll> {
  requireRoomAccess(ctx, roomId);
  const named = await findNamed(ctx, roomId, filter);
  const [rooms, rows, counted] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    ...(await selectUsersPage(ctx, { roomId }, page, named)),
  ]);
  if (rooms.length === 0) throw notFound("Rooms", "Room");
  const { lastSeen } = await ctx.rooms.read(
    roomId,
    ctx.accountId,
    rows.map((row) => row.id),
  );
  const users = rows.map(async (row) => {
    const user = presentUser(row, lastSeen[row.id]);
    const maySeeToken =
      ctx.actor.type === "key" ||
      ctx.actor.type === "person" ||
      (ctx.actor.type === "user" && ctx.actor.userId === row.id);
    return maySeeToken ? { ...user, token: await shownToken(ctx, row) } : user;
  });
  return { users: await Promise.all(users), ...presentScroll(page, counted, rows, positionOf(page)) };
}

/** A page of a room's users without their tokens, newest first; empty when the room does not exist. */
export async function listBareUsers(ctx: LiveRoomContext, roomId: string, page: Page): Promise<User[]> {
  requireRoomAccess(ctx, roomId);
  const { users } = await findUsers(ctx, roomId, page);
  if (users.length === 0) return [];
  const ids = users.map((row) => row.id);
  const { lastSeen } = await ctx.rooms.read(roomId, ctx.accountId, ids);
  return users.map((row) => presentUser(row, lastSeen[row.id]));
}

const seen = (end: "from" | "to") =>
  timeParameter(
    end,
    `Only users who were last seen at or ${end === "from" ? "after" : "before"} this time, of those of the room's latest 10,000 sessions; users who are online are seen now.`,
  );

/** The query parameters. */
export const presenceFilter = {
  online: z
    .enum(["true", "false"])
    .optional()
    .meta({ description: "Only users who are online, or only those who are not." }),
  lastSeenFrom: seen("from"),
  lastSeenTo: seen("to"),
};

/** The parsed parameters; times are epoch milliseconds. */
export interface PresenceFilter {
  readonly online?: "true" | "false" | undefined;
  readonly lastSeenFrom?: number | undefined;
  readonly lastSeenTo?: number | undefined;
}

/** As a room answers USERS_SEEN. */
interface UsersSeen {
  readonly userIds: readonly string[];
  readonly isExcluding: boolean;
}

/** The users that the room names for a filter; null without one. NOT_FOUND when the room does not exist. */
async function findNamed(
  ctx: LiveRoomContext,
  roomId: string,
  { online, lastSeenFrom, lastSeenTo }: PresenceFilter,
): Promise<NamedUsers | null> {
  if (online === undefined && lastSeenFrom === undefined && lastSeenTo === undefined) return null;
  await getRoomRow(ctx, roomId);
  const data = {
    online: online === undefined ? null : online === "true",
    from: lastSeenFrom ?? null,
    to: lastSeenTo ?? null,
    now: ctx.now(),
  };
  const seen = (await ctx.rooms.request(roomId, ctx.accountId, { type: "USERS_SEEN", data })) as UsersSeen;
  return { ids: JSON.stringify(seen.userIds), isExcluding: seen.isExcluding };
}

/** A user and their room; null where there is none. */
interface TokenBearer {
  readonly room: RoomRow | null;
  readonly user: UserRow | null;
}

/** The rows of the room and the user. One round trip, which also runs `alongside`. */
export async function findUserInRoom(
  tenant: Tenant,
  roomId: string,
  userId: string,
  alongside: readonly Statement[] = [],
): Promise<TokenBearer> {
  const [[room], [user]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectUser(tenant, roomId, { id: userId }),
    ...alongside,
  ]);
  return { room: room ?? null, user: user ?? null };
}

/** The token epoch of an organization; 0 for one that is gone, as its users are gone with it. */
export async function findAccountTokenEpoch(tenant: Tenant): Promise<number> {
  const [[row]] = await tenant.db.run([selectAccountTokenEpoch(tenant)]);
  return row?.tokenEpoch ?? 0;
}

/** Those of the users who exist in the room. */
export async function findExistingUsers(
  tenant: Tenant,
  roomId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const [rows] = await tenant.db.run([selectExistingUsers(tenant, roomId, userIds)]);
  return new Set(rows.map(({ id }) => id));
}

/** How long a token lives that a member of the organization sees in the dashboard. */
export const MEMBER_TOKEN_SECONDS = 60 * 60;

/**
 * The token that a response shows with a user: the lasting one, but to members a new one that lasts an hour. A member who
 * leaves the organization then has nothing that lasts.
 */
export const shownToken = (
  { actor, tokens, now }: Pick<UserContext, "actor" | "tokens" | "now">,
  user: TokenSubject,
): Promise<string> =>
  actor.type === "person"
    ? tokens.signShortLived(user, newTerms(user, now(), MEMBER_TOKEN_SECONDS))
    : tokens.sign(user);

/** The response of a repeated creation, with the user's present token; of a deleted user, with the one that it had. */
export async function restoreCreation(
  ctx: UserContext,
  user: User,
): Promise<{ user: UserWithToken; token: string }> {
  const { id, room_id: roomId, role } = user;
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id })]);
  const createdAt = Date.parse(user.created_at);
  const asCreated = { id, accountId: ctx.accountId, roomId, role, createdAt };
  const token = await shownToken(ctx, row ?? { ...asCreated, tokenEpoch: 0, accountTokenEpoch: 0 });
  return { user: { ...user, token }, token };
}
