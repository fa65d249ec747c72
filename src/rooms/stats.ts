/** The copy in D1 of a room's live stats, for lists of rooms. */
import type { Tenant } from "../platform/d1.ts";
import type { RoomStats } from "../realtime/port/snapshots.ts";
import { updateStats } from "./store.ts";

/**
 * Copies a room's live stats to its row, in one round trip. `version` increases with every change of the stats,
 * so a copy that arrives late never overwrites a newer one. A deleted room is no error. Returns the organization's token
 * epoch, so that a room learns of an ending that did not reach it, at no further cost.
 */
export async function updateRoomStats(
  tenant: Tenant,
  roomId: string,
  stats: RoomStats,
  version: number,
): Promise<number> {
  const [[row]] = await tenant.db.run([updateStats(tenant, roomId, stats, version)]);
  return row?.accountTokenEpoch ?? 0;
}
