/** The commands on users' tokens: they issue short-lived ones and end earlier ones. */

import { insertForOnlineRooms, insertOutboxEntry } from "../../delivery/outbox/command-store.ts";
import { newOutboxEntry, relayCommand } from "../../delivery/outbox/outbox.ts";
import { requireOwner } from "../../platform/context/context.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import type { RoomCommand } from "../../room/types/room-object.ts";
import { newTerms } from "../../wire/token-claims.ts";
import { lowerRole } from "../../wire/user.ts";
import { selectJoinedRoom } from "../rooms/shared-store.ts";
import type { UserContext } from "./context.ts";
import type { IssuedToken, TokenCreation } from "./schema.ts";
import { selectUser } from "./shared-store.ts";
import { MEMBER_TOKEN_SECONDS } from "./shown-token.ts";
import { endTokensOfAccount, endTokensOfUser } from "./token-store.ts";

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
