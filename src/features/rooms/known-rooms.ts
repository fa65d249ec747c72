/** Rooms that this isolate has found lately: of many sockets that open at once, few ask the database. */

import type { Tenant } from "../../platform/d1/d1.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import { findRoomRow } from "./queries.ts";

/** A socket of a room that was deleted meanwhile is refused when it joins, which always asks. */
export const ROOM_MEMORY_MS = 10_000;

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

/** The room is deleted. */
export const forgetRoom = (accountId: string, roomId: string): boolean =>
  known.delete(keyOf(accountId, roomId));
