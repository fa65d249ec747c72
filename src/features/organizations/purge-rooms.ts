/** Removes the rooms of a deleted organization, with everything in them, in slices. */
import type { Tenant } from "../../platform/d1/d1.ts";
import type { Slices } from "../../platform/flow/slices.ts";
import type { RoomGateway } from "../../room/port/room-gateway.ts";
import { purgeRoom } from "../rooms/purge.ts";
import { markDeleted } from "../rooms/purge-store.ts";
import { selectSomeRooms } from "../rooms/shared-store.ts";

const ROOMS_AT_ONCE = 20;

/**
 * Removes rooms until none or no slice is left, and returns true if none is. A room's row goes last, and says until then
 * what is left to do, so that a crash in between costs nothing.
 */
export async function purgeRooms(
  tenant: Tenant,
  rooms: Pick<RoomGateway, "apply">,
  slices: Slices,
  now: number,
): Promise<boolean> {
  return slices.finish(async () => {
    const [found] = await tenant.db.run([selectSomeRooms(tenant, ROOMS_AT_ONCE)]);
    await Promise.all(found.map(({ id }) => rooms.apply(id, tenant.accountId, { type: "room.deleted" })));
    for (const { id } of found) {
      await tenant.db.run([markDeleted(tenant, id, now)]);
      if (!(await purgeRoom(tenant, id, slices))) return { isFull: true };
    }
    return { isFull: found.length === ROOMS_AT_ONCE };
  });
}
