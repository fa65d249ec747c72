/** Writes rooms: create, update, delete and reconcile, each committed as one batch with its outbox row. */

import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { insertOutboxEntry } from "../../delivery/outbox/outbox-store.ts";
import { violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { fold } from "../../platform/text.ts";
import { presentRoom, type Room } from "../../wire/room.ts";
import { deleteRoomFiles } from "../files/storage/garbage-collection.ts";
import { guardQuota } from "../quotas/guard.ts";
import type { RoomContext, RoomDeletionContext } from "./context.ts";
import { forgetRoom } from "./known-rooms.ts";
import { purgeChunk } from "./purge.ts";
import { markDeleted } from "./purge-store.ts";
import { getRoomRow } from "./queries.ts";
import { insertRoomClosed, insertRoomEvent, insertRoomUpdated } from "./room-event-store.ts";
import type { RoomCreation, RoomUpdate } from "./schema.ts";
import { selectJoinedRoom, selectRoom } from "./shared-store.ts";
import { insertRoom, updateRoom as updateRow } from "./store.ts";
import type { RoomRow } from "./table.ts";

function refuseTakenCustomId(error: unknown): never {
  if (violatedConstraint(error) !== "unique:rooms.account_id, rooms.custom_id") throw error;
  throw new AppError("Rooms", "CONFLICT", "customId is already used by another room of the organization");
}

/** Creates an empty, active room. CONFLICT when another room has its customId, FORBIDDEN beyond the quota. */
export async function createRoom(ctx: RoomContext, input: RoomCreation): Promise<{ room: Room }> {
  const now = ctx.now();
  const row: RoomRow = {
    accountId: ctx.accountId,
    id: ctx.newId(),
    name: input.name,
    nameFolded: fold(input.name),
    customId: input.customId ?? null,
    state: "active",
    createdAt: now,
    totalUsersCreated: 0,
    userCount: 0,
    activeParticipants: 0,
    occupiedMs: 0,
    occupiedSince: null,
    lastActiveAt: 0,
    storeBytes: 0,
    fileCount: 0,
    fileBytes: 0,
    deletedAt: null,
    statsVersion: 0,
    firstJoinAt: null,
  };
  const data = { room: presentRoom(row, now) };
  const quota = guardQuota(ctx, "rooms");
  const created = newEvent(ctx, "room.created", row.id);
  const [, events] = await ctx
    .commit([insertRoom(ctx, row), insertRoomEvent(ctx, created), quota.statement], data)
    .catch(quota.refuse)
    .catch(refuseTakenCustomId);
  if (events.length > 0) await ctx.relayEvents(ctx, events);
  return data;
}

/** Updates a room and sends the change to its participants. Closing it ends its sessions and closes its sockets. */
export async function updateRoom(
  ctx: RoomContext,
  roomId: string,
  update: RoomUpdate,
): Promise<{ room: Room }> {
  const changes = {
    ...(update.name === undefined ? {} : { name: update.name, nameFolded: fold(update.name) }),
    ...(update.customId === undefined ? {} : { customId: update.customId }),
    ...(update.state === undefined ? {} : { state: update.state }),
  };
  const entry = newOutboxEntry(ctx, roomId, {
    type: update.state === "closed" ? "room.closed" : "room.updated",
  });
  const [updated, closed, rows, owed] = await ctx
    .commit([
      insertRoomUpdated(ctx, newEvent(ctx, "room.updated", roomId), changes),
      insertRoomClosed(ctx, newEvent(ctx, "room.closed", roomId), changes),
      updateRow(ctx, roomId, changes),
      insertOutboxEntry(entry, [selectJoinedRoom(ctx, roomId)], ctx.now()),
    ])
    .catch(refuseTakenCustomId);
  const row = rows[0];
  if (row === undefined) throw notFound("Rooms", "Room");
  const stats = await relayChange(ctx, entry, owed, [...updated, ...closed]);
  return { room: presentRoom(row, ctx.now(), stats ?? row) };
}

/**
 * Deletes a room with its users, its files and everything in its object, and closes its sockets. Of a large room, the rows
 * of some users stay behind, where nothing finds them: the cron trigger removes them.
 */
export async function deleteRoom(ctx: RoomDeletionContext, roomId: string): Promise<Record<string, never>> {
  const deletion = newOutboxEntry(ctx, roomId, { type: "room.deleted" });
  const [events, owed, deleted, , files] = await ctx.commit([
    insertRoomEvent(ctx, newEvent(ctx, "room.deleted", roomId)),
    insertOutboxEntry(deletion, [selectRoom(ctx, { id: roomId })], ctx.now()),
    markDeleted(ctx, roomId, ctx.now()),
    ...purgeChunk(ctx, roomId),
  ]);
  if (deleted.length === 0) throw notFound("Rooms", "Room");
  forgetRoom(ctx.accountId, roomId);
  await Promise.all([relayChange(ctx, deletion, owed, events), deleteRoomFiles(ctx, roomId, files)]);
  return {};
}

/** Recounts the users online, and corrects the counter in the room's object and in D1. */
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
