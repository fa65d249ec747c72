/** Removes the rooms of a deleted organization, with everything in them, in chunks. */
import type { Tenant } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { RoomGateway } from "../../room/port/room-gateway.ts";
import { purgeRoom } from "../rooms/purge.ts";
import { markDeleted } from "../rooms/purge-store.ts";
import { selectSomeRooms } from "../rooms/shared-store.ts";

const ROOMS_AT_ONCE = 20;

/**
 * Removes rooms until none is left (true) or the budget is spent. A room's row goes last, and says until then
 * what is left to do, so that a crash in between costs nothing.
 */
export async function purgeRooms(
  tenant: Tenant,
  rooms: Pick<RoomGateway, "apply">,
  budget: WorkBudget,
  now: number,
): Promise<boolean> {
  return budget.run(async () => {
    const [found] = await tenant.db.run([selectSomeRooms(tenant, ROOMS_AT_ONCE)]);
    await Promise.all(found.map(({ id }) => rooms.apply(id, tenant.accountId, { type: "room.deleted" })));
    for (const { id } of found) {
      await tenant.db.run([markDeleted(tenant, id, now)]);
      if (!(await purgeRoom(tenant, id, budget))) return true;
    }
    return found.length === ROOMS_AT_ONCE;
  });
}
