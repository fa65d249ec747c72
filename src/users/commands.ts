/** What can be done to users. */

import { newOutboxEntry, relayCommand } from "../delivery/outbox/outbox.ts";
import type { OutboxEntry } from "../delivery/outbox/outbox-store.ts";
import { insertOutboxEntry } from "../delivery/outbox/outbox-store.ts";
import type { UserEventRow } from "../delivery/outbox/table.ts";
import { incrementHourlyCounts } from "../metrics/counters/hourly-count-store.ts";
import { violatedConstraint } from "../platform/d1.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { fold } from "../platform/text.ts";
import { countUserCreation, selectJoinedRoom } from "../rooms/shared-store.ts";
import type { UserContext } from "./context.ts";
import { presentWithSessions } from "./queries.ts";
import { presentUser, type UserCreation, type UserUpdate, type UserWithToken } from "./schema.ts";
import { selectUser } from "./shared-store.ts";
import { deleteUser as deleteRow, insertUser, updateUser as updateRow } from "./store.ts";
import type { UserRow } from "./table.ts";
import { insertUserEvent, newUserEvent } from "./user-event-store.ts";

function refuse(error: unknown): never {
  const violated = violatedConstraint(error);
  if (violated === "foreign") throw notFound("Rooms", "Room");
  if (violated === "unique:users.account_id, users.room_id, users.custom_id") {
    throw new AppError("Users", "CONFLICT", "Another user of the room has this customId");
  }
  throw error;
}

/**
 * Relays what the batch of a user's change wrote: first the command to the room, if `entries` holds its outbox row,
 * then `events` to their subscribers. So they receive the events that the room records on the way first. Never
 * rejects.
 */
async function relayUserChange(
  ctx: UserContext,
  entry: OutboxEntry,
  entries: readonly unknown[],
  events: readonly UserEventRow[],
): Promise<void> {
  // An event must not overtake its room's events: without the room it waits for the cron trigger.
  if (entries.length > 0 && (await relayCommand(ctx, entry)) === null) return;
  await ctx.relayUserEvents(events);
}

/** Creates a user and its token; NOT_FOUND without the room, CONFLICT when its customId is taken there. */
export async function createUser(
  ctx: UserContext,
  input: UserCreation,
): Promise<{ user: UserWithToken; token: string }> {
  const row: UserRow = {
    id: ctx.newId(),
    accountId: ctx.accountId,
    roomId: input.roomId,
    name: input.name,
    nameFolded: fold(input.name),
    profilePicture: input.profilePicture ?? null,
    customId: input.customId ?? null,
    role: input.role,
    createdAt: ctx.now(),
  };
  const token = await ctx.tokens.sign(row);
  const data = { user: { ...presentUser(row), token }, token };
  const entry = newOutboxEntry(ctx, input.roomId, { type: "user.created", userId: row.id });
  const [, , owed, told] = await ctx
    .commit(
      [
        insertUser(ctx, row),
        countUserCreation(ctx, input.roomId),
        insertOutboxEntry(entry, [selectJoinedRoom(ctx, input.roomId)], ctx.now()),
        insertUserEvent(ctx, newUserEvent(ctx, "user.created", input.roomId, row.id)),
        incrementHourlyCounts(ctx, row.createdAt, { events: 1 }),
      ],
      data,
    )
    .catch(refuse);
  const handedOn = relayUserChange(ctx, entry, owed, told);
  // Subscribers are given it before its caller can cause the user to join; members are not waited for.
  if (told.length > 0) await handedOn;
  else ctx.defer(handedOn);
  return data;
}

/** Changes a user's fields; those connected to its room see them. */
export async function updateUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
  update: UserUpdate,
): Promise<{ user: UserWithToken }> {
  const changes = {
    ...(update.name === undefined ? {} : { name: update.name, nameFolded: fold(update.name) }),
    ...(update.profilePicture === undefined ? {} : { profilePicture: update.profilePicture }),
    ...(update.customId === undefined ? {} : { customId: update.customId }),
  };
  const entry = newOutboxEntry(ctx, roomId, { type: "user.updated", userId });
  const [told, rows, owed] = await ctx
    .commit([
      insertUserEvent(ctx, newUserEvent(ctx, "user.updated", roomId, userId), changes),
      updateRow(ctx, roomId, userId, changes),
      insertOutboxEntry(
        entry,
        [selectJoinedRoom(ctx, roomId), selectUser(ctx, roomId, { id: userId })],
        ctx.now(),
      ),
      incrementHourlyCounts(ctx, ctx.now(), { events: 1 }, [selectUser(ctx, roomId, { id: userId })]),
    ])
    .catch(refuse);
  const row = rows[0];
  if (row === undefined) throw notFound("Users", "User");
  await relayUserChange(ctx, entry, owed, told);
  const { user } = await presentWithSessions(ctx, row);
  return { user };
}

/** Removes a user, closes its sockets and ends its session; its token is refused from now on. */
export async function deleteUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
): Promise<Record<string, never>> {
  const entry = newOutboxEntry(ctx, roomId, { type: "user.deleted", userId });
  const [told, owed, , deleted] = await ctx.commit([
    insertUserEvent(ctx, newUserEvent(ctx, "user.deleted", roomId, userId)),
    insertOutboxEntry(
      entry,
      [selectJoinedRoom(ctx, roomId), selectUser(ctx, roomId, { id: userId })],
      ctx.now(),
    ),
    incrementHourlyCounts(ctx, ctx.now(), { events: 1 }, [selectUser(ctx, roomId, { id: userId })]),
    deleteRow(ctx, roomId, userId),
  ]);
  if (deleted.length === 0) throw notFound("Users", "User");
  await relayUserChange(ctx, entry, owed, told);
  return {};
}
