/** Writes users: create, update and delete, each committed as one batch with its events and room command. */
import { insertOutboxEntry } from "../../delivery/outbox/command-store.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { fold } from "../../platform/text.ts";
import { presentUser } from "../../wire/user.ts";
import { guardQuota } from "../quotas/guard.ts";
import { countUserCreation, selectJoinedRoom } from "../rooms/shared-store.ts";
import type { UserContext } from "./context.ts";
import { presentWithSessions } from "./queries.ts";
import type { UserCreation, UserUpdate, UserWithToken } from "./schema.ts";
import { selectUser } from "./shared-store.ts";
import { shownToken } from "./shown-token.ts";
import { insertUser, updateUser as updateRow } from "./store.ts";
import type { StoredUser, UserRow } from "./table.ts";
import { insertUserEvent } from "./user-event-store.ts";

function refuse(error: unknown): never {
  const violated = violatedConstraint(error);
  if (violated === "required:users.room_id") throw notFound("Rooms", "Room");
  if (violated === "unique:users.account_id, users.room_id, users.custom_id") {
    throw new AppError("Users", "CONFLICT", "customId is already used by another user of the room");
  }
  throw error;
}

/** Creates a user and its token. NOT_FOUND without the room, CONFLICT when another user of it has the customId. */
export async function createUser(
  ctx: UserContext,
  input: UserCreation,
): Promise<{ user: UserWithToken; token: string }> {
  const row: StoredUser = {
    id: ctx.newId(),
    accountId: ctx.accountId,
    roomId: input.roomId,
    name: input.name,
    nameFolded: fold(input.name),
    profilePicture: input.profilePicture ?? null,
    customId: input.customId ?? null,
    role: input.role,
    createdAt: ctx.now(),
    tokenEpoch: 0,
  };
  const user = presentUser(row);
  const quota = guardQuota(ctx, "users");
  const entry = newOutboxEntry(ctx, input.roomId, { type: "user.created", userId: row.id });
  const [[inserted], , owed, events] = await ctx
    .commit(
      [
        insertUser(ctx, row),
        countUserCreation(ctx, input.roomId),
        insertOutboxEntry(entry, [selectJoinedRoom(ctx, input.roomId)], ctx.now()),
        insertUserEvent(ctx, newEvent(ctx, "user.created", input.roomId), row.id),
        quota.statement,
      ],
      { user },
    )
    .catch(quota.refuse)
    .catch(refuse);
  // Subscribers and the log receive user.created before the caller can let the user join.
  await relayChange(ctx, entry, owed, events);
  const token = await shownToken(ctx, inserted ?? { ...row, accountTokenEpoch: 0 });
  return { user: { ...user, token }, token };
}

/** Updates a user and sends the change to the participants of its room. */
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
    ...(update.role === undefined ? {} : { role: update.role }),
  };
  const entry = newOutboxEntry(ctx, roomId, { type: "user.updated", userId });
  const [events, rows, owed] = await ctx
    .commit([
      insertUserEvent(ctx, newEvent(ctx, "user.updated", roomId), userId, changes),
      updateRow(ctx, roomId, userId, changes),
      insertOutboxEntry(
        entry,
        [selectJoinedRoom(ctx, roomId), selectUser(ctx, roomId, { id: userId })],
        ctx.now(),
      ),
    ])
    .catch(refuse);
  const row = rows[0];
  if (row === undefined) throw notFound("Users", "User");
  await relayChange(ctx, entry, owed, events);
  return { user: await presentChanged(ctx, row) };
}

/** The change is committed, whether its room can be reached or not: then the user is shown as offline. */
async function presentChanged(ctx: UserContext, row: UserRow): Promise<UserWithToken> {
  try {
    return (await presentWithSessions(ctx, row)).user;
  } catch (error) {
    ctx.log("A room could not say whether a changed user is online", error);
    return { ...presentUser(row), token: await shownToken(ctx, row) };
  }
}
