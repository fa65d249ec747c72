/** The commands on users and their tokens, each committed as one batch with its events and room command. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { ERASED_FIELDS, lowerRole, presentUser, type UserKind } from "@atrium/contract/resources/user.ts";
import type {
  IssuedToken,
  TokenCreation,
  UserCreation,
  UserUpdate,
  UserWithToken,
} from "@atrium/contract/rest/users.ts";
import { fold } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { selectInboxShards } from "../../delivery/inbox-store.ts";
import { closeInboxSockets } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange, relayCommand, relayToRooms } from "../../delivery/outbox/outbox.ts";
import {
  insertForOnlineRooms,
  insertOutboxEntry,
  redactPendingEvents,
} from "../../delivery/outbox/outbox-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { PING, rowOf, type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { newTerms, type TokenClaims, type TokenTerms } from "../../platform/token-claims.ts";
import type { RoomCommand } from "../../room/types/room-object.ts";
import { guardQuota } from "../quotas/guard.ts";
import { guardRoomLimit } from "../rooms/limits.ts";
import { countUserCreation, roomExists, wasJoined } from "../rooms/statements.ts";
import type { UserContext } from "./context.ts";
import { findHolder, MEMBER_TOKEN_SECONDS, presentWithSessions, shownToken } from "./queries.ts";
import {
  endTokensOfAccount,
  IDENTITY_GONE,
  isUserOf,
  requireIdentity,
  selectIdentityEpoch,
  selectUser,
} from "./statements.ts";
import {
  deleteUser as deleteRow,
  endTokensOfUser,
  insertUser,
  insertUserEvent,
  updateUser as updateRow,
} from "./store.ts";
import { type UserRow, users } from "./table.ts";

function refuse(error: unknown): never {
  const violated = violatedConstraint(error);
  if (violated === IDENTITY_GONE) throw notFound("Users", "Identity");
  if (violated === "required:users.room_id") throw notFound("Rooms", "Room");
  if (violated === "unique:users.account_id, users.room_id, users.custom_id")
    throw new AppError("Users", "CONFLICT", "customId is already used by another user of the room");
  if (violated === "unique:users.account_id, users.identity_id, users.room_id")
    throw new AppError("Users", "CONFLICT", "The identity already has a user in the room");
  throw error;
}

/** An outbox entry for a room that has been joined, and the statement that inserts it if the user exists. */
function planCommand(ctx: UserContext, roomId: string, command: RoomCommand & { readonly userId: string }) {
  const entry = newOutboxEntry(ctx, roomId, command);
  const conditions = [wasJoined(ctx, roomId), isUserOf(ctx, roomId, command.userId)] as const;
  return { entry, insertion: insertOutboxEntry(entry, conditions, ctx.now()) };
}

/**
 * Creates a user and its token. NOT_FOUND without the room or the identity, CONFLICT when another user of the room has
 * the customId or the identity.
 */
export async function createUser(ctx: UserContext, input: UserCreation) {
  const { roomId, name, identityId } = input;
  const row = rowOf(users, {
    ...input,
    id: ctx.newId(),
    accountId: ctx.accountId,
    nameFolded: fold(name),
    createdAt: ctx.now(),
    kind: identityId === undefined ? null : await findKind(ctx, identityId),
  });
  const user = presentUser(row);
  const quota = guardQuota(ctx, "users");
  const place = guardRoomLimit(ctx, roomId, "users");
  const entry = newOutboxEntry(ctx, roomId, { type: "user.created", userId: row.id });
  const [, [inserted], , owed, events] = await ctx
    .commit(
      [
        identityId === undefined ? PING : requireIdentity(ctx, identityId),
        insertUser(ctx, row),
        countUserCreation(ctx, roomId),
        insertOutboxEntry(entry, [wasJoined(ctx, roomId)], ctx.now()),
        insertUserEvent(ctx, newEvent(ctx, "user.created", roomId), row.id),
        quota.statement,
        place.statement,
      ],
      { user },
    )
    .catch(quota.refuse)
    .catch(place.refuse)
    .catch(refuse);
  // Subscribers and the log receive user.created before the caller can let the user join.
  await relayChange(ctx, entry, owed, events);
  const token = await shownToken(ctx, inserted ?? { ...row, accountTokenEpoch: 0, identityEpoch: null });
  return { user: { ...user, token }, token };
}

/** Null for a person. NOT_FOUND without the identity. */
async function findKind(ctx: UserContext, identityId: string): Promise<UserKind | null> {
  const [[identity]] = await ctx.db.run([selectIdentityEpoch(ctx, identityId)]);
  if (identity === undefined) throw notFound("Users", "Identity");
  return identity.kind === "person" ? null : identity.kind;
}

/** Updates a user and sends the change to the participants of its room. `alongside` are an event and its change, in the same batch. */
export async function updateUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
  update: UserUpdate,
  alongside: readonly [] | readonly [Statement<OutboxEventRow>, Statement] = [],
) {
  const { name } = update;
  const changes = name === undefined ? update : { ...update, nameFolded: fold(name) };
  const { entry, insertion } = planCommand(ctx, roomId, { type: "user.updated", userId });
  const [events, [row], owed, others = []] = await ctx
    .commit([
      insertUserEvent(ctx, newEvent(ctx, "user.updated", roomId), userId, changes),
      updateRow(ctx, roomId, userId, changes),
      insertion,
      ...alongside,
    ])
    .catch(refuse);
  if (row === undefined) throw notFound("Users", "User");
  await relayChange(ctx, entry, owed, [...events, ...others]);
  return { user: await presentChanged(ctx, row) };
}

/** The change is committed even if its room cannot be reached; then the user is shown as offline. */
async function presentChanged(ctx: UserContext, row: UserRow): Promise<UserWithToken> {
  try {
    return (await presentWithSessions(ctx, row)).user;
  } catch (error) {
    ctx.log("A room could not say whether a changed user is online", error);
    return { ...presentUser(row), token: await shownToken(ctx, row) };
  }
}

/** Deletes a user, closes its sockets and ends its session. Its token is refused from then on. */
export async function deleteUser(ctx: UserContext, roomId: string, userId: string) {
  const { entry, insertion } = planCommand(ctx, roomId, { type: "user.deleted", userId });
  const [events, owed, deleted] = await ctx.commit([
    insertUserEvent(ctx, newEvent(ctx, "user.deleted", roomId), userId),
    insertion,
    deleteRow(ctx, roomId, userId),
  ]);
  if (deleted.length === 0) throw notFound("Users", "User");
  await relayChange(ctx, entry, owed, events);
  return {};
}

/**
 * Deletes a user with their content, and redacts them in the room and its events: only an ID stays that leads to no one.
 * For a user who was deleted before, it removes the rest. Idempotent. Everything of its identity in the room goes as well;
 * `erasedIdentityId` is that of an identity which is itself erased. Returns whether the room has done it by now, or null without the room.
 */
export async function eraseUser(
  ctx: UserContext,
  roomId: string,
  userId: string,
  erasedIdentityId?: string,
): Promise<boolean | null> {
  const identityId = erasedIdentityId ?? (await findIdentityOf(ctx, roomId, userId));
  const isIdentityErased = erasedIdentityId !== undefined;
  const command = { type: "user.erased", userId, identityId, isIdentityErased } as const;
  const entry = newOutboxEntry(ctx, roomId, command);
  const [events, owed] = await ctx.commit([
    insertUserEvent(ctx, newEvent(ctx, "user.deleted", roomId), userId, null, ERASED_FIELDS),
    insertOutboxEntry(entry, [roomExists(ctx, roomId)], ctx.now()),
    deleteRow(ctx, roomId, userId),
    ...redactPendingEvents(ctx, roomId, userId, ERASED_FIELDS),
  ]);
  if (owed.length === 0) return null;
  return (await relayChange(ctx, entry, owed, events)) !== null;
}

async function findIdentityOf(ctx: UserContext, roomId: string, userId: string): Promise<string | null> {
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  return user?.identityId ?? null;
}

const invalid = (message: string) => new AppError("Users", "VALIDATION_ERROR", message);

/** Issues a short-lived token. VALIDATION_ERROR for a role above the user's, or above an hour for a member. */
export async function createToken(
  ctx: UserContext,
  roomId: string,
  userId: string,
  { ttl, role }: TokenCreation,
) {
  if (ctx.actor.type === "person" && ttl > MEMBER_TOKEN_SECONDS)
    throw invalid(`ttl: must be at most ${MEMBER_TOKEN_SECONDS} in the dashboard; use an API key for more`);
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  if (user === undefined) throw notFound("Users", "User");
  if (role !== undefined && lowerRole(role, user.role) !== role)
    throw invalid(`role: the user is a ${user.role}, and a token cannot have a higher role`);
  return issue(ctx, user, newTerms(user, ctx.now(), ttl, role));
}

/** A token on the terms of an earlier one, for the same time unless that is over. Null when the user was deleted. */
export async function issueAgain(
  ctx: UserContext,
  { roomId, userId, role, narrowed, iat, exp }: TokenClaims,
) {
  const user = await findHolder(ctx, roomId, userId);
  if (user === null) return null;
  const ttlSeconds = exp - iat;
  const isOver = exp * 1000 <= ctx.now();
  return issue(
    ctx,
    user,
    isOver
      ? newTerms(user, ctx.now(), ttlSeconds, narrowed ? role : undefined)
      : { issuedAt: iat, ttlSeconds, role, narrowed },
  );
}

const issue = async ({ tokens }: UserContext, user: UserRow, terms: TokenTerms): Promise<IssuedToken> => ({
  token: await tokens.signShortLived(user, terms),
  role: terms.role,
  expires_at: presentTime((terms.issuedAt + terms.ttlSeconds) * 1000),
});

/** Ends all earlier tokens of a user, and closes the sockets that joined with them. */
export async function endTokens(ctx: UserContext, roomId: string, userId: string) {
  const { entry, insertion } = planCommand(ctx, roomId, { type: "tokens.ended", userId });
  const [ended, owed] = await ctx.commit([endTokensOfUser(ctx, roomId, userId, ctx.now()), insertion]);
  if (ended.length === 0) throw notFound("Users", "User");
  if (owed.length > 0) await relayCommand(ctx, entry);
  return {};
}

/** The rooms that receive the end of all tokens within the request; the cron trigger reaches the others. */
const MAX_ENDED_NOW = 200;

/** Ends the tokens of all users and identities of the organization at once, and closes the sockets of rooms and inboxes. */
export async function endAllTokens(ctx: UserContext) {
  const { accountId } = ctx;
  const command: RoomCommand = { type: "tokens.ended", userId: null };
  const all = { accountId, command: JSON.stringify(command), at: ctx.now() };
  const [, owed, shards] = await ctx.commit([
    endTokensOfAccount(ctx, ctx.now()),
    insertForOnlineRooms(all),
    selectInboxShards(ctx),
  ]);
  closeInboxSockets(
    ctx,
    shards.map(({ shard }) => shard),
  );
  const complete = owed.filter(({ isUnfinished }) => isUnfinished === 0);
  await relayToRooms(ctx, command, complete, MAX_ENDED_NOW);
  return {};
}
