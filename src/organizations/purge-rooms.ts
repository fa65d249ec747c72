/** Removes the rooms of a deleted organization, with everything in them, in slices. */
import { hideSomeFiles } from "../files/storage/garbage-collection.ts";
import type { Tenant } from "../platform/d1.ts";
import type { Slices } from "../platform/slices.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import { deleteRoom, selectSomeRooms } from "../rooms/shared-store.ts";
import { deleteSomeUsers } from "../users/shared-store.ts";

const ROOMS_AT_ONCE = 20;
/** Users or files in one statement. */
const ROWS_AT_ONCE = 1_000;

/**
 * Removes rooms until none or no slice is left, and returns true if none is. A room's row goes last, and says until then
 * what is left to do, so that a crash in between costs nothing.
 */
export async function purgeRooms(
  tenant: Tenant,
  rooms: Pick<RoomGateway, "apply">,
  slices: Slices,
): Promise<boolean> {
  return slices.finish(async () => {
    const [found] = await tenant.db.run([selectSomeRooms(tenant, ROOMS_AT_ONCE)]);
    await Promise.all(found.map(({ id }) => rooms.apply(id, tenant.accountId, { type: "room.deleted" })));
    for (const { id } of found) await purgeRoom(tenant, id, slices);
    return { isFull: found.length === ROOMS_AT_ONCE };
  });
}

/** Everything of a room but what its object has kept; the row only once all the rest is gone. */
async function purgeRoom(tenant: Tenant, roomId: string, slices: Slices): Promise<void> {
  const isEmpty =
    (await slices.finish(async () => {
      const [deleted] = await tenant.db.run([deleteSomeUsers(tenant, roomId, ROWS_AT_ONCE)]);
      return { isFull: deleted.length === ROWS_AT_ONCE };
    })) &&
    (await slices.finish(async () => ({
      isFull: (await hideSomeFiles(tenant, roomId, ROWS_AT_ONCE)) === ROWS_AT_ONCE,
    })));
  if (isEmpty) await tenant.db.run([deleteRoom(tenant, roomId)]);
}
