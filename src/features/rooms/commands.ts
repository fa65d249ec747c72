/** Writes rooms: create, update, delete and reconcile, each committed as one batch with its outbox row. */

import { AppError, combined, notFound } from "@atrium/contract/errors.ts";
import type { Permission } from "@atrium/contract/resources/permissions.ts";
import { presentRoom, type Room } from "@atrium/contract/resources/room.ts";
import { storedLimits } from "@atrium/contract/resources/room-limits.ts";
import type { RoomCreation, RoomUpdate } from "@atrium/contract/rest/rooms.ts";
import { fold } from "@atrium/contract/text.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { recountInboxes } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { insertOutboxEntry } from "../../delivery/outbox/outbox-store.ts";
import { type Database, isFenced, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { MAX_DELETED } from "../files/storage/blobs.ts";
import { deleteRoomFiles } from "../files/storage/garbage-collection.ts";
import { guardQuota } from "../quotas/guard.ts";
import { type QuotaRow, selectQuotas } from "../quotas/statements.ts";
import type { RoomContext, RoomDeletionContext } from "./context.ts";
import { forgetRoom, getRoomRow } from "./queries.ts";
import { EXPIRY_DIFFERS, markDeleted, requireExpiry, roomExists, wasJoined } from "./statements.ts";
import {
  deleteSome,
  insertDefaultAccess,
  insertRoom,
  insertRoomClosed,
  insertRoomEvent,
  insertRoomUpdated,
  mergedLimits,
  type ProjectedStats,
  type RoomChanges,
  selectDeletedRooms,
  updateRoom as updateRow,
  updateStats,
} from "./store.ts";
import { newRoomRow } from "./table.ts";

const MAX_LIFETIME_MS = 3_652 * DAY_MS;

function requireLifetime(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt == null || (expiresAt > now && expiresAt <= now + MAX_LIFETIME_MS)) return;
  throw new AppError(
    "Rooms",
    "VALIDATION_ERROR",
    "expiresAt: must be in the future, within the next 10 years",
  );
}

/** The room waits for its deletion, and is answered as after it. */
function refuseExpired(error: unknown): never {
  throw violatedConstraint(error) === EXPIRY_DIFFERS ? notFound("Rooms", "Room") : error;
}

function refuseTakenCustomId(error: unknown): never {
  if (violatedConstraint(error) !== "unique:rooms.account_id, rooms.custom_id") throw error;
  throw new AppError("Rooms", "CONFLICT", "customId is already used by another room of the organization");
}

/** Creates a room. With `defaultAccess`, identities have this from the start instead of the default of new rooms. */
export async function createRoom(
  ctx: RoomContext,
  input: RoomCreation,
  defaultAccess: readonly Permission[] | null = null,
): Promise<{ room: Room }> {
  const now = ctx.now();
  requireLifetime(input.expiresAt, now);
  const row = newRoomRow({
    ...{ ...input, limits: storedLimits(input.limits) },
    ...{ accountId: ctx.accountId, id: ctx.newId(), createdAt: now },
  });
  const data = { room: presentRoom(row, now) };
  const quota = guardQuota(ctx, "rooms");
  const created = newEvent(ctx, "room.created", row.id);
  const [, events] = await ctx
    .commit(
      [
        insertRoom(ctx, row),
        insertRoomEvent(ctx, created),
        insertDefaultAccess(ctx, row.id, defaultAccess),
        quota.statement,
      ],
      data,
    )
    .catch(quota.refuse)
    .catch(refuseTakenCustomId);
  if (events.length > 0) await ctx.relayEvents(ctx, events);
  return data;
}

/**
 * Updates a room and sends the change to its participants. Closing it ends its sessions and closes its sockets.
 * NOT_FOUND also for a room that has expired.
 */
export async function updateRoom(
  ctx: RoomContext,
  roomId: string,
  update: RoomUpdate,
): Promise<{ room: Room }> {
  const { limits, ...fields } = update;
  const now = ctx.now();
  requireLifetime(update.expiresAt, now);
  const changes: RoomChanges = {
    ...fields,
    ...(fields.name !== undefined && { nameFolded: fold(fields.name) }),
    ...(limits !== undefined && { limits: mergedLimits(limits) }),
  };
  const entry = newOutboxEntry(ctx, roomId, {
    type: update.state === "closed" ? "room.closed" : "room.updated",
  });
  const [, updated, closed, rows, owed] = await ctx
    .commit([
      requireExpiry(ctx, roomId, now, false),
      insertRoomUpdated(ctx, newEvent(ctx, "room.updated", roomId), changes),
      insertRoomClosed(ctx, newEvent(ctx, "room.closed", roomId), changes),
      updateRow(ctx, roomId, changes),
      // Limits also bound the writes of REST into a room that no one has joined.
      insertOutboxEntry(
        entry,
        [limits === undefined ? wasJoined(ctx, roomId) : roomExists(ctx, roomId)],
        now,
      ),
    ])
    .catch(refuseExpired)
    .catch(refuseTakenCustomId);
  const row = rows[0];
  if (row === undefined) throw notFound("Rooms", "Room");
  // No identity enters a closed room, and a narrowed token may name the custom ID.
  const isShownToOthers = update.state !== undefined || update.customId !== undefined;
  if (updated.length + closed.length > 0 && isShownToOthers) recountInboxes(ctx, null, roomId);
  const stats = await relayChange(ctx, entry, owed, [...updated, ...closed]);
  return { room: presentRoom(row, ctx.now(), stats ?? row) };
}

/** {@link removeRoom}, as a request. */
export async function deleteRoom(ctx: RoomContext, roomId: string): Promise<Record<string, never>> {
  await removeRoom(ctx, roomId);
  return {};
}

/** Deletes a room with its content and closes its sockets. The cron trigger removes the rest of a large room. */
export async function removeRoom(ctx: RoomDeletionContext, roomId: string): Promise<void> {
  const deletion = newOutboxEntry(ctx, roomId, { type: "room.deleted" });
  const [events, owed, deleted, , files] = await ctx.commit([
    insertRoomEvent(ctx, newEvent(ctx, "room.deleted", roomId)),
    insertOutboxEntry(deletion, [roomExists(ctx, roomId)], ctx.now()),
    markDeleted(ctx, roomId, ctx.now()),
    ...deleteSome(ctx, roomId, ROWS_AT_ONCE),
  ]);
  if (deleted.length === 0) throw notFound("Rooms", "Room");
  forgetRoom(ctx.accountId, roomId);
  await Promise.all([relayChange(ctx, deletion, owed, events), deleteRoomFiles(ctx, roomId, files)]);
}

export async function reconcileRoom(
  ctx: RoomContext,
  roomId: string,
): Promise<{ room: Room; previous_active_participants: number; reconciled_active_participants: number }> {
  const row = await getRoomRow(ctx, roomId);
  const { previous, reconciled, stats } = await ctx.rooms.stub(roomId).reconcile(ctx.accountId);
  return {
    room: presentRoom(row, ctx.now(), stats),
    previous_active_participants: previous,
    reconciled_active_participants: reconciled,
  };
}

/** Copies live stats by version, so that a late copy loses. Returns what the room must learn, at no further cost. */
export async function updateRoomStats(
  tenant: Tenant,
  roomId: string,
  stats: ProjectedStats,
  version: number,
): Promise<{
  readonly accountTokenEpoch: number;
  readonly quotas: readonly QuotaRow[];
}> {
  const [[row], quotas] = await tenant.db.run([
    updateStats(tenant, roomId, stats, version),
    selectQuotas(tenant),
  ]);
  return { accountTokenEpoch: row?.accountTokenEpoch ?? 0, quotas };
}

/** The most users and files that one batch removes, and files that R2 deletes at once. */
const ROWS_AT_ONCE = MAX_DELETED;
/** Limits of one run, of which no room takes all: the next one follows within a minute. */
const CHUNKS_PER_RUN = 200;
const CHUNKS_PER_ROOM = 20;
const ROOMS_PER_RUN = 100;

/** Removes more of a deleted room, and returns true once nothing is left. The row goes last, so that a crash costs nothing. */
export const purgeRoom = (tenant: Tenant, roomId: string, budget: WorkBudget): Promise<boolean> =>
  budget.run(async () => {
    const [users, files, access] = await tenant.db.run(deleteSome(tenant, roomId, ROWS_AT_ONCE));
    return [users, files, access].some(({ length }) => length === ROWS_AT_ONCE);
  });

/** Continues deletions of large rooms. Rejects with the first failure; moving organizations wait. */
export async function purgeDeletedRooms(db: Database, queries: WorkBudget | null = null): Promise<void> {
  const budget = new WorkBudget(CHUNKS_PER_RUN, queries);
  const [deleted] = await db.run([selectDeletedRooms(ROOMS_PER_RUN)]);
  const failures: unknown[] = [];
  for (const { accountId, id } of deleted) {
    const purge = purgeRoom({ db, accountId }, id, new WorkBudget(CHUNKS_PER_ROOM, budget));
    await purge.catch((error: unknown) => (isFenced(error) ? undefined : failures.push(error)));
  }
  if (failures.length > 0) throw combined(failures);
}
