/** The rows behind a user's token, which a room's object reads before it accepts a join. */
import type { Statement, Tenant } from "../platform/d1.ts";
import { selectRoom } from "../rooms/shared-store.ts";
import type { RoomRow } from "../rooms/table.ts";
import { selectAccountTokenEpoch, selectExistingUsers, selectUser } from "./shared-store.ts";
import type { UserRow } from "./table.ts";

/** The rows of the room and the user, null where there is none. One round trip, which also runs `alongside`. */
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

/** The token epoch of an organization; 0 for one that is gone, as its users are gone with it. */
export async function findAccountTokenEpoch(tenant: Tenant): Promise<number> {
  const [[row]] = await tenant.db.run([selectAccountTokenEpoch(tenant)]);
  return row?.tokenEpoch ?? 0;
}

/** Those of the users who exist in the room. */
export async function findExistingUsers(
  tenant: Tenant,
  roomId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const [rows] = await tenant.db.run([selectExistingUsers(tenant, roomId, userIds)]);
  return new Set(rows.map(({ id }) => id));
}
