/** Deletes the rooms whose time has passed, each by one batch as a request deletes it. */

import { combined } from "@atrium/contract/errors.ts";
import { insertAuditEntry } from "../../http/audit/store.ts";
import { behind, type Database, isFenced, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { forEachConcurrently } from "../../platform/flow/concurrency.ts";
import type { CallBudget } from "../../platform/flow/work-budget.ts";
import { removeRoom } from "./commands.ts";
import type { RoomDeletionContext } from "./context.ts";
import { EXPIRY_DIFFERS, requireExpiry } from "./statements.ts";
import { type ExpiredRoom, selectExpiredRooms } from "./store.ts";

/** Deleted in one run at most; the next one follows within a minute. */
const ROOMS_PER_RUN = 200;
/** The earliest expired rooms, among which organizations take turns. */
const ROOMS_IN_TURNS = 2_000;
const ROOMS_AT_ONCE = 4;

/** The ports of a deletion in the cron trigger. */
export type RemovalPorts = Pick<RoomDeletionContext, "rooms" | "blobs" | "relayEvents" | "log" | "newId">;

/** Each entry names the service, which no credential stands for. */
const entryOf = (id: string, roomId: string, now: number) => ({
  ...({
    id,
    at: now,
    actorType: "service",
    actorId: null,
    actorName: null,
    operation: "deleteRoom",
  } as const),
  ...({ resource: "room", resourceId: roomId, changes: "{}", address: null, requestId: null } as const),
});

/** Another run has deleted the room, its time was postponed, or its organization moves. */
const isPassedOver = (error: unknown): boolean =>
  violatedConstraint(error) === EXPIRY_DIFFERS || isFenced(error);

/** The first room of each organization, then the second of each: one with many delays no other. */
export function inTurns(rooms: readonly ExpiredRoom[]): ExpiredRoom[] {
  const ofEach = [...Map.groupBy(rooms, ({ accountId }) => accountId).values()];
  const turns = ofEach.flatMap((own) => own.map((room, turn) => ({ room, turn })));
  return turns.sort((one, other) => one.turn - other.turn).map(({ room }) => room);
}

/**
 * Deletes rooms that have expired at `now` (epoch ms), as long as the invocation may make calls. A room whose time is
 * postponed meanwhile stays. Rejects with the first failures; moving organizations wait.
 */
export async function expireRooms(
  db: Database,
  ports: RemovalPorts,
  now: number,
  budget: CallBudget,
): Promise<void> {
  const [expired] = await db.run([selectExpiredRooms(now, ROOMS_IN_TURNS)]);
  const failures: unknown[] = [];
  const deferred: Promise<unknown>[] = [];
  const contextOf = (tenant: Tenant, roomId: string): RoomDeletionContext => ({
    ...{ trace: null, ...ports, ...tenant, now: () => now },
    commit: behind(db, [
      requireExpiry(tenant, roomId, now, true),
      insertAuditEntry(tenant.accountId, entryOf(ports.newId(), roomId, now), false),
    ]).run,
    defer: (work) => deferred.push(work.catch((error: unknown) => failures.push(error))),
  });
  await forEachConcurrently(
    ROOMS_AT_ONCE,
    inTurns(expired).slice(0, ROOMS_PER_RUN),
    async ({ accountId, id }) => {
      if (!budget.queries.hasLeft) return;
      budget.calls.spend(); // the room's; the relay of events spends what else a removal takes
      await removeRoom(contextOf({ db, accountId }, id), id).catch((error: unknown) =>
        isPassedOver(error) ? undefined : failures.push(error),
      );
    },
  );
  await Promise.all(deferred);
  if (failures.length > 0) throw combined(failures);
}
