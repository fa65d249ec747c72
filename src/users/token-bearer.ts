/** Who a token's bearer is now: what a room's object asks before it lets somebody in. */
import type { Statement, Tenant } from "../platform/d1.ts";
import { selectRoom } from "../rooms/shared-store.ts";
import type { RoomRow } from "../rooms/table.ts";
import { selectUser } from "./shared-store.ts";
import type { UserRow } from "./table.ts";

/** The room and the user as D1 has them; null for what is not there. One round trip, with what else is to be done in it. */
export async function findTokenBearer(
  tenant: Tenant,
  roomId: string,
  userId: string,
  alongside: readonly Statement[] = [],
): Promise<{ readonly room: RoomRow | null; readonly user: UserRow | null }> {
  const [rooms, users] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectUser(tenant, roomId, { id: userId }),
    ...alongside,
  ]);
  return { room: rooms[0] ?? null, user: users[0] ?? null };
}
