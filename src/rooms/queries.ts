/** What can be asked about rooms. */
import type { OperationContext, RequestContext } from "../context/context.ts";
import { type PresentedPage, presentPage } from "../http/paginate.ts";
import type { Page, Tenant } from "../platform/d1.ts";
import { notFound } from "../platform/errors.ts";
import { selectUsersPage } from "../users/queries.ts";
import { presentUser, type User } from "../users/schema.ts";
import { presentRoom, type Room } from "./schema.ts";
import { countRooms, type RoomKey, selectRoom, selectRooms } from "./store.ts";
import type { RoomRow } from "./table.ts";

export { selectRoom } from "./store.ts";

/** The organization's rooms, newest first. Their figures are the copies in D1, at most 2 s old. */
export async function listRooms(ctx: RequestContext, page: Page): Promise<{ rooms: Room[] } & PresentedPage> {
  const [rows, counted] = await ctx.db.run([selectRooms(ctx, page), countRooms(ctx, page)]);
  const now = ctx.now();
  return { rooms: rows.map((row) => presentRoom(row, now)), ...presentPage(page, counted) };
}

/** A room as its object has it now, with a page of its users. One D1 round trip and one object call. */
export async function getRoom(
  ctx: RequestContext,
  key: RoomKey,
  page: Page,
): Promise<{ room: Room; users: User[]; usersTotal: number; limit: number; offset: number }> {
  const [rooms, users, counted] = await ctx.db.run([
    selectRoom(ctx, key),
    ...selectUsersPage(ctx, "id" in key ? { roomId: key.id } : { roomCustomId: key.customId }, page),
  ]);
  const row = rooms[0];
  if (row === undefined) throw notFound("Rooms", "Room");
  const live = await ctx.rooms.read(
    row.id,
    ctx.accountId,
    users.map((user) => user.id),
  );
  const { total: usersTotal, limit, offset } = presentPage(page, counted);
  return {
    room: presentRoom(row, ctx.now(), live.stats),
    users: users.map((user) => presentUser(user, live.attendance[user.id])),
    usersTotal,
    limit,
    offset,
  };
}

/** The room's row, or null. */
export async function findRoomRow(tenant: Tenant, key: RoomKey): Promise<RoomRow | null> {
  const [[row]] = await tenant.db.run([selectRoom(tenant, key)]);
  return row ?? null;
}

/** The room as its object has it now; null when it is not there. One D1 round trip and one object call. */
export async function findRoom(ctx: OperationContext, key: RoomKey): Promise<Room | null> {
  const row = await findRoomRow(ctx, key);
  if (row === null) return null;
  const { stats } = await ctx.rooms.read(row.id, ctx.accountId, []);
  return presentRoom(row, ctx.now(), stats);
}

/** The room's row; NOT_FOUND when it is not there or not the organization's. */
export async function getRoomRow(ctx: OperationContext, roomId: string): Promise<RoomRow> {
  const row = await findRoomRow(ctx, { id: roomId });
  if (row === null) throw notFound("Rooms", "Room");
  return row;
}
