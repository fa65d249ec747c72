/** Reads users: rows from D1, who is online from the room's object. */

import { notFound } from "@atrium/contract/errors.ts";
import { mayWrite, missing, type Resource } from "@atrium/contract/resources/permissions.ts";
import { presentRoom } from "@atrium/contract/resources/room.ts";
import { presentSession, presentUser, type User } from "@atrium/contract/resources/user.ts";
import { encodePosition, presentScroll } from "../../http/lists.ts";
import type { OperationContext } from "../../platform/d1/context.ts";
import { type Page, PING, type Statement, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { isOrganization, requireRoom } from "../../platform/d1/rights.ts";
import { lazily } from "../../platform/lazily.ts";
import { newTerms, type TokenSubject, tokenEnded } from "../../platform/token-claims.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { type RoomKey, selectRoom } from "../rooms/statements.ts";
import { findHits, findHitsOfRooms } from "../search/queries.ts";
import type { UserContext } from "./context.ts";
import {
  ACCESS_CHANGED,
  requireSameAccess,
  rightsOfUser,
  selectBearers,
  selectUser,
  type UserKey,
} from "./statements.ts";
import {
  countUsers,
  type NamedUsers,
  positionOf,
  type RoomOfUsers,
  selectMatches,
  selectUsers,
} from "./store.ts";
import type { BearerRow, UserRow } from "./table.ts";

/** A member of the organization sees tokens that live this long. */
export const MEMBER_TOKEN_SECONDS = 60 * 60;

/** The token in a response with a user: the lasting one, but for members an hour's, which ends soon after they leave. */
export const shownToken = (
  { actor, tokens, now }: Pick<UserContext, "actor" | "tokens" | "now">,
  user: TokenSubject,
): Promise<string> =>
  actor.type === "person"
    ? tokens.signShortLived(user, newTerms(user, now(), MEMBER_TOKEN_SECONDS))
    : tokens.sign(user);

/** The response of a repeated creation, with the user's present token. Null when none is accepted any more. */
export async function restoreCreation(ctx: UserContext, user: User) {
  const row = await findHolder(ctx, user.room_id, user.id);
  if (row === null) return null;
  const token = await shownToken(ctx, row);
  return { user: { ...user, token }, token };
}

/** The user, unless it or its identity was deleted: then no token is accepted. */
export async function findHolder(ctx: UserContext, roomId: string, id: string): Promise<UserRow | null> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id })]);
  return row === undefined || (row.identityId !== null && row.identityEpoch === null) ? null : row;
}

/** A user with its token and latest sessions, newest first. One D1 round trip and one object call. */
export async function getUser(ctx: UserContext, roomId: string, key: UserKey) {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, key)]);
  if (row === undefined) throw notFound("Users", "User");
  return presentWithSessions(ctx, row);
}

/** A user without its token; null when there is none. */
export async function findUser(ctx: LiveRoomContext, roomId: string, userId: string): Promise<User | null> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  return row === undefined ? null : ((await presentLive(ctx, roomId, [row]))[0] ?? null);
}

/** Presents a user's row with its token and latest sessions. One object call. */
export async function presentWithSessions(ctx: UserContext, row: UserRow) {
  const [live, token] = await Promise.all([
    ctx.rooms.stub(row.roomId).readUser(ctx.accountId, row.id),
    shownToken(ctx, row),
  ]);
  return {
    user: { ...presentUser(row, live.lastSeen ?? undefined), token },
    sessions: live.sessions.map(presentSession),
  };
}

/** Presents rows with what their room knows of them. One object call. */
async function presentLive(ctx: LiveRoomContext, roomId: string, rows: readonly UserRow[]): Promise<User[]> {
  const ids = rows.map(({ id }) => id);
  const { lastSeen } = await ctx.rooms.read(roomId, ctx.accountId, ids);
  return rows.map((row) => presentUser(row, lastSeen[row.id]));
}

/**
 * Commits a change of a user with a guard in its batch. FORBIDDEN when its role or its identity's access does not allow
 * to write the resource at that moment, whatever it was when the request was authenticated; UNAUTHORIZED when the user
 * is gone, or the identity's tokens have ended.
 */
export async function commitAs<Results>(
  ctx: Pick<OperationContext, "actor" | "db" | "accountId">,
  resource: Resource,
  commit: (guard: Statement) => Promise<Results>,
): Promise<Results> {
  const { actor } = ctx;
  if (actor.type !== "user") return commit(PING);
  for (let known: Pick<BearerRow, "role" | "access" | "identityEpoch"> = actor.decided; ; ) {
    try {
      return await commit(requireSameAccess(actor.userId, known));
    } catch (error) {
      if (violatedConstraint(error) !== ACCESS_CHANGED) throw error;
    }
    const [[user]] = await ctx.db.run([selectBearers(ctx, actor.roomId, "id", [actor.userId])]);
    if (user?.identityEpoch !== actor.decided.identityEpoch) throw tokenEnded();
    if (user === undefined || !mayWrite(rightsOfUser(user), resource))
      throw missing("Auth", `${resource}:write`);
    known = user;
  }
}

/** The statements that read a page of a room's users and count all matches. A search asks the index first. */
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
export async function findUsers(tenant: Tenant, roomId: string, page: Page, named: NamedUsers | null = null) {
  const [users, counted] = await tenant.db.run(await selectUsersPage(tenant, { roomId }, page, named));
  return { users, total: counted[0]?.total ?? 0 };
}

/**
 * The same for a list that opens while a name is typed: first the users whose names begin with the text, by name. A whole
 * name is found however many longer ones begin with it.
 */
export async function suggestUsers(tenant: Tenant, roomId: string, page: Page) {
  const { search } = page;
  const order = { by: "name", descending: false };
  const byName = { ...page, search: "", order, after: { key: search, id: "" } };
  const [named, others, counted] = await tenant.db.run([
    selectUsers(tenant, { roomId }, byName),
    ...(await selectUsersPage(tenant, { roomId }, page)),
  ]);
  const first = named.filter(({ nameFolded }) => nameFolded.startsWith(search));
  const found = new Map([...first, ...others].map((user) => [user.id, user]));
  return { users: [...found.values()].slice(0, page.limit), total: counted[0]?.total ?? 0 };
}

/** A room with its live stats and a page of its users. One D1 round trip and one object call. */
export async function getRoomWithUsers(ctx: UserContext, key: RoomKey, page: Page) {
  const [[row], users, counted] = await ctx.db.run([
    selectRoom(ctx, key),
    ...(await selectUsersPage(ctx, "id" in key ? { roomId: key.id } : { roomCustomId: key.customId }, page)),
  ]);
  if (row === undefined) throw notFound("Rooms", "Room");
  const ids = users.map((user) => user.id);
  const live = await ctx.rooms.read(row.id, ctx.accountId, ids);
  const { total: usersTotal, ...shown } = presentScroll(page, counted, users, positionOf(page));
  return {
    room: presentRoom(row, ctx.now(), live.stats),
    users: users.map((user) => presentUser(user, live.lastSeen[user.id])),
    usersTotal,
    ...shown,
  };
}

/** A page of a room's users; only the organization sees tokens of others. NOT_FOUND when the room does not exist. */
export async function listUsers(ctx: UserContext, roomId: string, page: Page, filter: PresenceFilter = {}) {
  requireRoom(ctx, roomId);
  const named = await findNamed(ctx, roomId, filter);
  const [rooms, rows, counted] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    ...(await selectUsersPage(ctx, { roomId }, page, named)),
  ]);
  if (rooms.length === 0) throw notFound("Rooms", "Room");
  const { actor } = ctx;
  const maySeeToken = (row: UserRow): boolean =>
    isOrganization(ctx) ||
    (actor.type === "user" && actor.userId === row.id && actor.decided.isByLastingToken);
  const presented = await presentLive(ctx, roomId, rows);
  const tokens = await Promise.all(rows.map((row) => (maySeeToken(row) ? shownToken(ctx, row) : undefined)));
  const users = presented.map((user, index) => {
    const token = tokens[index];
    return token === undefined ? user : { ...user, token };
  });
  return { users, ...presentScroll(page, counted, rows, positionOf(page)) };
}

/** A page of a room's users without their tokens, newest first; empty when the room does not exist. */
export async function listBareUsers(ctx: LiveRoomContext, roomId: string, page: Page): Promise<User[]> {
  requireRoom(ctx, roomId);
  const { users } = await findUsers(ctx, roomId, page);
  return users.length === 0 ? [] : presentLive(ctx, roomId, users);
}

/** Users that a request reads the names of, as the API's description promises: some 30 ms of the database. */
const NAMES_AT_ONCE = 50_000;

const shapes = lazily(() => import("@atrium/contract/rest/users.ts"));

/** Matching users of all rooms, by room and name. A page may be short or empty before the search has ended. */
export async function findUsersOfRooms(tenant: Tenant, page: Page, namesAtOnce = NAMES_AT_ONCE) {
  const hits = await findHitsOfRooms(tenant, { text: page.search, withIds: true });
  const atOnce = page.search === "" ? page.limit + 1 : namesAtOnce;
  const [read] = await tenant.db.run([selectMatches(tenant, page, hits, atOnce)]);
  const matches = read.filter(({ isEnd }) => isEnd === 0);
  const rows = matches.slice(0, page.limit);
  const { FoundUser } = await shapes();
  const next = matches.length > rows.length ? rows.at(-1) : read.find(({ isEnd }) => isEnd === 1);
  return {
    users: rows.map((row) => FoundUser.parse({ ...presentUser(row), room_name: row.roomName })),
    cursor:
      next === undefined
        ? null
        : encodePosition({
            key: next.nameFolded,
            id: `${next.roomId}/${next.id}`,
            offset: 0,
            total: 0,
            sort: "name",
          }),
  };
}

/** Filters that only the room's object can answer; times are epoch milliseconds. */
interface PresenceFilter {
  readonly online?: boolean | undefined;
  readonly lastSeenFrom?: number | undefined;
  readonly lastSeenTo?: number | undefined;
}

/** The users that the room names for a filter; null without one. NOT_FOUND when the room does not exist. */
async function findNamed(
  ctx: LiveRoomContext,
  roomId: string,
  { online, lastSeenFrom, lastSeenTo }: PresenceFilter,
): Promise<NamedUsers | null> {
  if (online === undefined && lastSeenFrom === undefined && lastSeenTo === undefined) return null;
  await getRoomRow(ctx, roomId);
  const filter = {
    online: online ?? null,
    from: lastSeenFrom ?? null,
    to: lastSeenTo ?? null,
    now: ctx.now(),
  };
  const seen = await ctx.rooms.call(roomId, ctx.accountId, "USERS_SEEN", filter);
  return { ids: JSON.stringify(seen.userIds), isExcluding: seen.isExcluding };
}

/** The rows of a room and a user, null where there is none. One round trip, which also runs `alongside`. */
export async function findUserInRoom(
  tenant: Tenant,
  roomId: string,
  userId: string,
  alongside: readonly Statement[] = [],
) {
  const [[room], [user]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectBearers(tenant, roomId, "id", [userId]),
    ...alongside,
  ]);
  return { room: room ?? null, user: user ?? null };
}
