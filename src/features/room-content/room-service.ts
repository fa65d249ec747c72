/** Fills the ports of live rooms: with the queries of features, and with the delivery of events. */
import { eraseFromLog } from "../../delivery/event-log/shards.ts";
import { fanOut, hasListener, openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { jwtSecrets, quotaDefaults } from "../../platform/config.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import type { CopiedStats, KnownUser, RoomService } from "../../room/host/room-service.ts";
import type { QuotaUse } from "../../wire/quota.ts";
import { usedOf } from "../quotas/queries.ts";
import { selectQuotas } from "../quotas/statements.ts";
import { updateRoomStats } from "../rooms/commands.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { selectRoom, updateFirstJoin } from "../rooms/statements.ts";
import type { RoomRow } from "../rooms/table.ts";
import { findAccountTokenEpoch, findUserInRoom, findUsers } from "../users/queries.ts";
import { selectUsersById } from "../users/statements.ts";
import { recordOf, type UserRow } from "../users/table.ts";
import { tokensFor } from "../users/tokens.ts";

const knownUser = (row: UserRow): KnownUser => ({ record: recordOf(row), subject: row });

type StoreLimits = (
  room: Pick<RoomRow, "accountId" | "customId" | "storeBytes">,
  ofOrganization: QuotaUse,
) => Pick<CopiedStats, "storeUse" | "maxCommentBytes">;

export function roomService(env: Env, storeLimits: StoreLimits): RoomService {
  const delivery = openDelivery(env);
  const tenantOf = ({ accountId }: { readonly accountId: string }) => openTenant(env, accountId);
  return {
    verifyToken: (token, now) => tokensFor(jwtSecrets(env)).verify(token, now),
    findRoom: (room) => findRoomRow(tenantOf(room), { id: room.roomId }),
    findUser: async (room, userId) => {
      const found = await findUserInRoom(tenantOf(room), room.roomId, userId);
      return { room: found.room, user: found.user && knownUser(found.user) };
    },
    findUsers: async (room, { limit, offset, after }) => {
      const page = {
        limit,
        offset,
        search: "",
        from: Number.MIN_SAFE_INTEGER,
        to: Number.MAX_SAFE_INTEGER,
        after: after && { key: Date.parse(after.created_at), id: after.id },
      };
      const { users, total } = await findUsers(tenantOf(room), room.roomId, page);
      return { users: users.map(recordOf), total };
    },
    findAccountTokenEpoch: (room) => findAccountTokenEpoch(tenantOf(room)),
    readJoiners: async (room, userIds, firstJoinAt) => {
      const tenant = tenantOf(room);
      const [[row], users, quotas] = await tenant.db.run([
        selectRoom(tenant, { id: room.roomId }),
        selectUsersById(tenant, room.roomId, userIds),
        selectQuotas(tenant),
        ...(firstJoinAt === null ? [] : [updateFirstJoin(tenant, room.roomId, firstJoinAt)]),
      ]);
      return {
        room: row ?? null,
        users: new Map(users.map((user) => [user.id, knownUser(user)])),
        onlineUsers: usedOf(quotas, "online_users", quotaDefaults(env)),
      };
    },
    copyStats: async (room, stats, version) => {
      const copied = await updateRoomStats(tenantOf(room), room.roomId, stats, version);
      const { customId, accountTokenEpoch, quotas } = copied;
      const use = usedOf(quotas, "store_bytes", quotaDefaults(env));
      const { accountId } = room;
      const limits = storeLimits({ accountId, customId, storeBytes: stats.storeBytes }, use);
      return { accountTokenEpoch, ...limits };
    },
    fanOut: ({ accountId, roomId }, events, calls) => fanOut(accountId, delivery, roomId, events, calls),
    hasListener: ({ accountId, roomId }, event) => hasListener(delivery.eventLogs, accountId, roomId, event),
    eraseFromLog: ({ accountId, roomId }, userId) =>
      eraseFromLog(delivery.eventLogs, accountId, roomId, userId),
  };
}
