/** Writes users: create, update and delete, each committed as one batch with its events and room command. */

import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange, relayCommand } from "../../delivery/outbox/outbox.ts";
import {
  insertForOnlineRooms,
  insertOutboxEntry,
  redactPendingEvents,
} from "../../delivery/outbox/outbox-store.ts";
import { requireOwner } from "../../platform/d1/context.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { fold } from "../../platform/text.ts";
import { presentTime } from "../../platform/time.ts";
import type { RoomCommand } from "../../room/types/room-object.ts";
import { newTerms } from "../../wire/token-claims.ts";
import { ERASED_FIELDS, lowerRole, presentUser } from "../../wire/user.ts";
import { guardQuota } from "../quotas/guard.ts";
import { countUserCreation, selectJoinedRoom, selectRoom } from "../rooms/statements.ts";
import type { UserContext } from "./context.ts";
import { MEMBER_TOKEN_SECONDS, presentWithSessions, shownToken } from "./queries.ts";
import type { IssuedToken, TokenCreation, UserCreation, UserUpdate, UserWithToken } from "./schema.ts";
import { endTokensOfAccount, selectUser } from "./statements.ts";
import {
  deleteUser as deleteRow,
  endTokensOfUser,
  insertUser,
  insertUserEvent,
  updateUser as updateRow,
} from "./store.ts";
import type { StoredUser, UserRow } from "./table.ts";

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

/** So many rooms receive the end of an organization's tokens within the request, this many at once; others by the cron trigger. */
const MAX_RELAYED = 200;
const RELAYED_AT_ONCE = 20;

const invalid = (message: string) => new AppError("Users", "VALIDATION_ERROR", message);

/**
 * Issues a short-lived token of a user. VALIDATION_ERROR for a role above the user's, or when a member asks for a longer
 * life than members may see.
 */
export async function createToken(
  ctx: UserContext,
  roomId: string,
  userId: string,
  { ttl, role }: TokenCreation,
): Promise<IssuedToken> {
  if (ctx.actor.type === "person" && ttl > MEMBER_TOKEN_SECONDS)
    throw invalid(`ttl: must be at most ${MEMBER_TOKEN_SECONDS} in the dashboard; use an API key for more`);
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  if (user === undefined) throw notFound("Users", "User");
  if (role !== undefined && lowerRole(role, user.role) !== role)
    throw invalid(`role: the user is a ${user.role}, and a token cannot have a higher role`);
  const terms = newTerms(user, ctx.now(), ttl, role);
  return {
    token: await ctx.tokens.signShortLived(user, terms),
    role: terms.role,
    expires_at: presentTime((terms.issuedAt + ttl) * 1000),
  };
}

/** Ends all earlier tokens of a user, and closes the sockets that joined with them. */
export async function endTokens(
  ctx: UserContext,
  roomId: string,
  userId: string,
): Promise<Record<string, never>> {
  const entry = newOutboxEntry(ctx, roomId, { type: "tokens.ended", userId });
  const [ended, owed] = await ctx.commit([
    endTokensOfUser(ctx, roomId, userId, ctx.now()),
    insertOutboxEntry(
      entry,
      [selectJoinedRoom(ctx, roomId), selectUser(ctx, roomId, { id: userId })],
      ctx.now(),
    ),
  ]);
  if (ended.length === 0) throw notFound("Users", "User");
  if (owed.length > 0) await relayCommand(ctx, entry);
  return {};
}

/**
 * Ends the tokens of all of the organization's users, and closes the sockets that joined with them: none is accepted any
 * more from then on, however many rooms have yet to receive it.
 */
export async function endAllTokens(ctx: UserContext): Promise<Record<string, never>> {
  requireOwner(ctx);
  const command: RoomCommand = { type: "tokens.ended", userId: null };
  const all = { accountId: ctx.accountId, command: JSON.stringify(command), at: ctx.now() };
  const [, owed] = await ctx.commit([endTokensOfAccount(ctx, ctx.now()), insertForOnlineRooms(all)]);
  const relayed = owed.filter(({ isUnfinished }) => isUnfinished === 0).slice(0, MAX_RELAYED);
  for (let at = 0; at < relayed.length; at += RELAYED_AT_ONCE) {
    const together = relayed.slice(at, at + RELAYED_AT_ONCE);
    await Promise.all(
      together.map((entry) => relayCommand(ctx, { ...entry, accountId: ctx.accountId, command })),
    );
  }
  return {};
}
