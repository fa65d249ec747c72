/** Deletes users: as the organization asks, or with all that names them. */
import { insertOutboxEntry } from "../../delivery/outbox/command-store.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { redactPendingEvents } from "../../delivery/outbox/outbox-store.ts";
import { notFound } from "../../platform/errors.ts";
import { ERASED_FIELDS } from "../../wire/erased-user.ts";
import { selectJoinedRoom, selectRoom } from "../rooms/shared-store.ts";
import type { UserContext } from "./context.ts";
import { selectUser } from "./shared-store.ts";
import { deleteUser as deleteRow } from "./store.ts";
import { insertUserEvent } from "./user-event-store.ts";

/** Deletes a user, closes its sockets and ends its session. Its token is refused from then on. */
export async function deleteUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
): Promise<Record<string, never>> {
  const entry = newOutboxEntry(ctx, roomId, { type: "user.deleted", userId });
  const [events, owed, deleted] = await ctx.commit([
    insertUserEvent(ctx, newEvent(ctx, "user.deleted", roomId), userId),
    insertOutboxEntry(
      entry,
      [selectJoinedRoom(ctx, roomId), selectUser(ctx, roomId, { id: userId })],
      ctx.now(),
    ),
    deleteRow(ctx, roomId, userId),
  ]);
  if (deleted.length === 0) throw notFound("Users", "User");
  await relayChange(ctx, entry, owed, events);
  return {};
}

/**
 * Deletes a user with what they wrote and what names them, in the room and in its events: only an ID stays that leads to
 * no one. Of a user who was deleted before, it removes what is left. Idempotent. NOT_FOUND without the room.
 */
export async function eraseUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
): Promise<Record<string, never>> {
  const entry = newOutboxEntry(ctx, roomId, { type: "user.erased", userId });
  const [events, owed] = await ctx.commit([
    insertUserEvent(ctx, newEvent(ctx, "user.deleted", roomId), userId, null, ERASED_FIELDS),
    insertOutboxEntry(entry, [selectRoom(ctx, { id: roomId })], ctx.now()),
    deleteRow(ctx, roomId, userId),
    ...redactPendingEvents(ctx, roomId, userId, ERASED_FIELDS),
  ]);
  if (owed.length === 0) throw notFound("Rooms", "Room");
  await relayChange(ctx, entry, owed, events);
  return {};
}
