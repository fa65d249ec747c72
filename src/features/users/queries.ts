/** Reads single users: rows from D1, who is online from the room's object. */

import type { Database } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import { requireRestored } from "../../wire/being-restored.ts";
import { isTokenOf, type TokenClaims } from "../../wire/token-claims.ts";
import { presentSession, presentUser, type User, type UserSession } from "../../wire/user.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import type { UserContext } from "./context.ts";
import type { UserWithToken } from "./schema.ts";
import { selectUser, type UserKey } from "./shared-store.ts";
import { shownToken } from "./shown-token.ts";
import type { UserRow } from "./table.ts";
import { findAccountTokenEpoch } from "./token-bearer.ts";

/** A user with its token and latest sessions, newest first. One D1 round trip and one object call. */
export async function getUser(
  ctx: UserContext,
  roomId: string,
  key: UserKey,
): Promise<{ user: UserWithToken; sessions: UserSession[] }> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, key)]);
  if (row === undefined) throw notFound("Users", "User");
  return presentWithSessions(ctx, row);
}

/** A user without its token; null when there is none. */
export async function findUser(ctx: LiveRoomContext, roomId: string, userId: string): Promise<User | null> {
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  if (row === undefined) return null;
  const { lastSeen } = await ctx.rooms.read(roomId, ctx.accountId, [userId]);
  return presentUser(row, lastSeen[userId]);
}

/** Presents a user's row with its token and latest sessions. One object call. */
export async function presentWithSessions(
  ctx: UserContext,
  row: UserRow,
): Promise<{ user: UserWithToken; sessions: UserSession[] }> {
  const [live, token] = await Promise.all([
    ctx.rooms.stub(row.roomId).readUser(ctx.accountId, row.id),
    shownToken(ctx, row),
  ]);
  return {
    user: { ...presentUser(row, live.lastSeen ?? undefined), token },
    sessions: live.sessions.map(presentSession),
  };
}

/**
 * The current row of a token's user; null when the user is deleted or no longer matches the claims. RATE_LIMITED while
 * the organization is being restored.
 */
export async function findTokenBearer(db: Database, claims: TokenClaims): Promise<UserRow | null> {
  const tenant = { db, accountId: claims.accountId };
  const [[user]] = await db.run([selectUser(tenant, claims.roomId, { id: claims.userId })]);
  requireRestored(user?.accountTokenEpoch ?? (await findAccountTokenEpoch(tenant)));
  return user !== undefined && isTokenOf(claims, user) ? user : null;
}
