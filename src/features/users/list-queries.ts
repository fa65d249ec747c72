/** Reads lists of users: rows from D1, who is online from the room's object. */

import { type PresentedScroll, presentScroll } from "../../http/lists/presented-page.ts";
import { requireRoomAccess } from "../../platform/context/context.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import { presentRoom, type Room } from "../../wire/room.ts";
import { presentUser, type User } from "../../wire/user.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { type RoomKey, selectRoom } from "../rooms/shared-store.ts";
import { findHits } from "../search/queries.ts";
import type { UserContext } from "./context.ts";
import { countUsers, positionOf, type RoomOfUsers, selectUsers } from "./list-store.ts";
import type { NamedUsers } from "./named-users.ts";
import { findNamed, type PresenceFilter } from "./presence-filter.ts";
import type { ListedUser } from "./schema.ts";
import { shownToken } from "./shown-token.ts";
import type { UserRow } from "./table.ts";

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
