/** Implements the ports of live rooms with the queries of features and the delivery of events. */

import { exports } from "cloudflare:workers";
import { LIMITS } from "@atrium/contract/limits.ts";
import { fold } from "@atrium/contract/text.ts";
import { eraseFromLog } from "../../delivery/event-log/shards.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { relayEvents } from "../../delivery/outbox-relay.ts";
import { fanOut, hasListener, openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { jwtSecrets, quotaDefaults } from "../../platform/config.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { newCallBudget } from "../../platform/flow/work-budget.ts";
import { logError } from "../../platform/log.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import type { RoomService } from "../../room/host/room-service.ts";
import { fanOutInboxUpdates } from "../inbox/fan-out.ts";
import { usedOf } from "../quotas/queries.ts";
import { updateRoomStats } from "../rooms/commands.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { findAccountTokenEpoch, isTokenCurrent } from "../users/bearers.ts";
import { findEpochIfCurrent, knownUser, readJoiners } from "../users/joining.ts";
import { findUserInRoom, findUsers, suggestUsers } from "../users/queries.ts";
import { selectBearers } from "../users/statements.ts";
import { recordOf } from "../users/table.ts";
import { tokensFor } from "../users/tokens.ts";
import { findRecipients } from "./recipients.ts";

export function roomService(env: Env): RoomService {
  const delivery = openDelivery(env);
  const tenantOf = ({ accountId }: { readonly accountId: string }) => openTenant(env, accountId);
  return {
    verifyToken: async (token, now) => {
      const tokens = tokensFor(jwtSecrets(env));
      return (await tokens.verify(token, now)) ?? tokens.verifyIdentity(token, now);
    },
    verifyWatch: (token, now) => tokensFor(jwtSecrets(env)).verifyWatch(token, now),
    isTokenCurrent: (claims) => isTokenCurrent(tenantOf(claims), claims),
    findRoom: (room) => findRoomRow(tenantOf(room), { id: room.roomId }),
    findUser: async (room, userId) => {
      const found = await findUserInRoom(tenantOf(room), room.roomId, userId);
      return { room: found.room, user: found.user && knownUser(found.user) };
    },
    findUsers: async (room, { limit, offset, after, userIds, search }) => {
      const page = {
        limit: search === "" ? limit : Math.min(limit, LIMITS.usersFound),
        offset,
        search: fold(search),
        from: Number.MIN_SAFE_INTEGER,
        to: Number.MAX_SAFE_INTEGER,
        after: after && { key: Date.parse(after.created_at), id: after.id },
      };
      const named = userIds ? { ids: JSON.stringify(userIds), isExcluding: false } : null;
      const found = search === "" ? findUsers : suggestUsers;
      const { users, total } = await found(tenantOf(room), room.roomId, page, named);
      return { users: users.map(recordOf), total };
    },
    findAccountTokenEpoch: (room) => findAccountTokenEpoch(tenantOf(room)),
    readJoiners: (room, joining, firstJoinAt, keepAlive) => {
      const tenant = tenantOf(room);
      const report = (message: string, error: unknown) =>
        logError(message, { account: room.accountId }, error);
      const relaying = {
        ...{ ...delivery, db: tenant.db, rooms: roomGateway(env), log: report },
        defer: (work: Promise<unknown>) =>
          keepAlive(work.catch((error: unknown) => report("Deferred work failed", error))),
      };
      const ctx = {
        ...tenant,
        quotaDefaults: quotaDefaults(env),
        now: Date.now,
        newId: () => crypto.randomUUID(),
        relayEvents: (rows: readonly OutboxEventRow[]) => relayEvents(relaying, rows),
      };
      return readJoiners(ctx, room.roomId, joining, firstJoinAt);
    },
    findEpochIfCurrent: (room) => findEpochIfCurrent(tenantOf(room), room.roomId, Date.now()),
    findBearers: async (room, userIds) => {
      const tenant = tenantOf(room);
      const [users] = await tenant.db.run([selectBearers(tenant, room.roomId, "id", userIds)]);
      return users.map(knownUser);
    },
    findRecipients: (room, mentions, userId) => findRecipients(tenantOf(room), room.roomId, mentions, userId),
    copyStats: async (room, stats, version) => {
      const copied = await updateRoomStats(tenantOf(room), room.roomId, stats, version);
      const { accountTokenEpoch, quotas } = copied;
      return { accountTokenEpoch, storeUse: usedOf(quotas, "store_bytes", quotaDefaults(env)) };
    },
    newCalls: () => newCallBudget(delivery.plan).calls,
    fanOut: ({ accountId, roomId }, events, calls, canWait) =>
      fanOut(accountId, delivery, roomId, events, calls, { canWait }),
    notify: (room, threads, updates, calls) =>
      fanOutInboxUpdates(tenantOf(room), room.roomId, threads, updates, calls, (page) =>
        exports.InboxFanOut.deliver(room.accountId, page),
      ),
    hasListener: ({ accountId, roomId }, event) => hasListener(delivery.eventLogs, accountId, roomId, event),
    eraseFromLog: ({ accountId, roomId }, userId) =>
      eraseFromLog(delivery.eventLogs, accountId, roomId, userId),
  };
}
