/** The copy of a room object's figures that the lists of rooms read. */
import type { Tenant } from "../platform/d1.ts";
import type { RoomStats } from "../realtime/port/snapshots.ts";
import { updateStats } from "./store.ts";

/**
 * Writes a room object's figures to its row, in one round trip. `version` counts the changes that the object
 * has made to them: a copy that arrives late never overwrites a newer one. A room that is gone is no error.
 */
export async function updateRoomStats(
  tenant: Tenant,
  roomId: string,
  figures: RoomStats,
  version: number,
): Promise<void> {
  await tenant.db.run([updateStats(tenant, roomId, figures, version)]);
}
