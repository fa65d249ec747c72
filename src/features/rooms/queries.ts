/** Reads rooms: lists from D1, single rooms with the live stats of their objects. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { presentRoom, type Room } from "@atrium/contract/resources/room.ts";
import type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
import { type PresentedScroll, presentScroll } from "../../http/lists.ts";
import { TtlCache } from "../../platform/cache.ts";
import type { OperationContext } from "../../platform/d1/context.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { findHits } from "../search/queries.ts";
import type { LiveRoomContext, RoomContext } from "./context.ts";
import { presentListedRoom } from "./present.ts";
import { type RoomKey, selectRoom, selectRoomsAfter } from "./statements.ts";
import { countRooms, positionOf, type RoomPage, selectRooms } from "./store.ts";
import type { RoomRow } from "./table.ts";

/** A page of the organization's rooms. Their stats are the copies in D1, at most 2 s old. */
export async function listRooms(
  ctx: RoomContext,
  page: RoomPage,
): Promise<{ rooms: ListedRoom[] } & PresentedScroll> {
  const hits = await findHits(
    ctx.db,
    { accountId: ctx.accountId, of: "rooms" },
    { text: page.search, withIds: false },
  );
  const searched = { ...page, hits };
  const [rows, counted] = await ctx.db.run([selectRooms(ctx, searched), countRooms(ctx, searched)]);
  const now = ctx.now();
  return {
    rooms: rows.map((row) => presentListedRoom(row, now)),
    ...presentScroll(page, counted, rows, positionOf(page)),
  };
}

export async function findRoomRow(tenant: Tenant, key: RoomKey): Promise<RoomRow | null> {
  const [[row]] = await tenant.db.run([selectRoom(tenant, key)]);
  return row ?? null;
}

export async function findRoom(ctx: LiveRoomContext, key: RoomKey): Promise<Room | null> {
  const row = await findRoomRow(ctx, key);
  if (row === null) return null;
  const { stats } = await ctx.rooms.read(row.id, ctx.accountId, []);
  return presentRoom(row, ctx.now(), stats);
}

/** The IDs of the rooms behind one, in their order. */
export async function findRoomsAfter(tenant: Tenant, after: string, limit: number): Promise<string[]> {
  const [found] = await tenant.db.run([selectRoomsAfter(tenant, after, limit)]);
  return found.map(({ id }) => id);
}

/** The room's row. NOT_FOUND when it does not exist or belongs to another organization. */
export async function getRoomRow(tenant: Tenant, roomId: string): Promise<RoomRow> {
  const row = await findRoomRow(tenant, { id: roomId });
  if (row === null) throw notFound("Rooms", "Room");
  return row;
}

/** NOT_FOUND without the room, and FORBIDDEN to users in a closed one. */
export async function requireOpenRoom(
  ctx: Pick<OperationContext, "db" | "accountId" | "actor">,
  roomId: string,
): Promise<void> {
  if (ctx.actor.type === "user") requireOpen(ctx.actor);
  else await getRoomRow(ctx, roomId);
}

/** The same for users alone, by what their authentication has read. */
export function requireOpen(actor: OperationContext["actor"]): void {
  if (actor.type !== "user") return;
  const { roomState } = actor.decided;
  if (roomState === null) throw notFound("Rooms", "Room");
  if (roomState === "closed") throw new AppError("Rooms", "FORBIDDEN", "The room is closed");
}

/** A socket of a room that was deleted meanwhile is refused when it joins, which always asks. */
const ROOM_MEMORY_MS = 10_000;

const known = new TtlCache<true>({ ttlMs: ROOM_MEMORY_MS, maxEntries: 10_000 });

const keyOf = (accountId: string, roomId: string): string => `${accountId} ${roomId}`;

/** Whether the organization has the room, or had it less than {@link ROOM_MEMORY_MS} before `now` (epoch ms). */
export async function hasRoom(tenant: Tenant, roomId: string, now: number): Promise<boolean> {
  const key = keyOf(tenant.accountId, roomId);
  if (known.get(key, now)) return true;
  const exists = (await findRoomRow(tenant, { id: roomId })) !== null;
  if (exists) known.set(key, true, now);
  return exists;
}

export const forgetRoom = (accountId: string, roomId: string): boolean =>
  known.delete(keyOf(accountId, roomId));
