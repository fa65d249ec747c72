/** The token that a response shows with a user. */

import { newTerms, type TokenSubject } from "../../wire/token-claims.ts";
import type { User } from "../../wire/user.ts";
import type { UserContext } from "./context.ts";
import type { UserWithToken } from "./schema.ts";
import { selectUser } from "./shared-store.ts";

/** How long a token lives that a member of the organization sees in the dashboard. */
export const MEMBER_TOKEN_SECONDS = 60 * 60;

/**
 * The token that a response shows with a user: the lasting one, but to members a new one that lasts an hour. A member who
 * leaves the organization then has nothing that lasts.
 */
export const shownToken = (
  { actor, tokens, now }: Pick<UserContext, "actor" | "tokens" | "now">,
  user: TokenSubject,
): Promise<string> =>
  actor.type === "person"
    ? tokens.signShortLived(user, newTerms(user, now(), MEMBER_TOKEN_SECONDS))
    : tokens.sign(user);

/** The response of a repeated creation, with the user's present token; of a deleted user, with the one that it had. */
export async function restoreCreation(
  ctx: UserContext,
  user: User,
): Promise<{ user: UserWithToken; token: string }> {
  const { id, room_id: roomId, role } = user;
  const [[row]] = await ctx.db.run([selectUser(ctx, roomId, { id })]);
  const createdAt = Date.parse(user.created_at);
  const asCreated = { id, accountId: ctx.accountId, roomId, role, createdAt };
  const token = await shownToken(ctx, row ?? { ...asCreated, tokenEpoch: 0, accountTokenEpoch: 0 });
  return { user: { ...user, token }, token };
}
