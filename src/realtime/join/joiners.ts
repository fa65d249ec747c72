/** Reads users who join at the same time, with their room, in one round trip. */
import type { Tenant } from "../../platform/d1.ts";
import { type QuotaRow, selectQuotas } from "../../quotas/shared-store.ts";
import { selectRoom, updateFirstJoin } from "../../rooms/shared-store.ts";
import type { RoomRow } from "../../rooms/table.ts";
import { selectUsersById } from "../../users/shared-store.ts";
import type { UserRow } from "../../users/table.ts";

/** What is read for a user who joins; null where there is none. */
export interface Joiner {
  readonly room: RoomRow | null;
  readonly user: UserRow | null;
  /** Of the organization. */
  readonly quotas: readonly QuotaRow[];
}

/** `firstJoinAt` (epoch ms) marks a room that no one has joined before: from then on, changes over REST are relayed to it. */
export async function findJoiners(
  tenant: Tenant,
  roomId: string,
  userIds: readonly string[],
  firstJoinAt: number | null,
): Promise<(userId: string) => Joiner> {
  const [[room], users, quotas] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectUsersById(tenant, roomId, userIds),
    selectQuotas(tenant),
    ...(firstJoinAt === null ? [] : [updateFirstJoin(tenant, roomId, firstJoinAt)]),
  ]);
  const byId = new Map(users.map((user) => [user.id, user]));
  return (userId) => ({ room: room ?? null, user: byId.get(userId) ?? null, quotas });
}
