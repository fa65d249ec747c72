/** The rows behind a user's token: what is read again before the token is believed. */
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { selectRoom } from "../rooms/shared-store.ts";
import type { RoomRow } from "../rooms/table.ts";
import { selectAccountTokenEpoch, selectExistingUsers, selectUser } from "./shared-store.ts";
import type { UserRow } from "./table.ts";

/** A user and their room; null where there is none. */
interface TokenBearer {
  readonly room: RoomRow | null;
  readonly user: UserRow | null;
}

/** The rows of the room and the user. One round trip, which also runs `alongside`. */
export async function findTokenBearer(
  tenant: Tenant,
  roomId: string,
  userId: string,
  alongside: readonly Statement[] = [],
): Promise<TokenBearer> {
  const [[room], [user]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectUser(tenant, roomId, { id: userId }),
    ...alongside,
  ]);
  return { room: room ?? null, user: user ?? null };
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
