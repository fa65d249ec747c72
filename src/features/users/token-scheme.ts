/** Authenticates the users of rooms by their tokens, and by those of their identities: `Bearer <JWT>`. */

import { AppError } from "@atrium/contract/errors.ts";
import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import { onlyRead, type Rights } from "@atrium/contract/resources/permissions.ts";
import { TOKEN_LIFETIME_SECONDS } from "@atrium/contract/token-seconds.ts";
import { type AuthPorts, bearerOf, type Claim } from "../../http/authenticate.ts";
import type { Actor } from "../../platform/d1/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { limitOf } from "../../platform/narrowing.ts";
import { ceilingOf, type TokenClaims, tokenEnded } from "../../platform/token-claims.ts";
import { findIdentityActor, findIdentityBearer, findTokenBearer } from "./bearers.ts";
import { rightsOfUser } from "./statements.ts";
import type { BearerRow } from "./table.ts";
import type { Tokens } from "./tokens.ts";

/**
 * The user whose token `tokens` verifies, or the identity itself where the request names no room. A credential without
 * dots is not a JWT.
 */
export async function authenticateUser(
  request: Request,
  { db, roomId, now }: AuthPorts,
  tokens: Tokens,
): Promise<Claim | null | undefined> {
  const bearer = bearerOf(request);
  if (bearer === null || !bearer.includes(".")) return undefined;
  const claims = (await tokens.verify(bearer, now())) ?? (await tokens.verifyIdentity(bearer, now()));
  if (claims === null) return null;
  const isByIdentity = "identityId" in claims;
  return {
    credential: isByIdentity ? `identity:${claims.identityId}` : `user:${claims.userId}`,
    accountId: claims.accountId,
    isOfUser: true,
    isOurs: true,
    verify: async () => {
      if (!isByIdentity) {
        const user = await findTokenBearer(db, claims);
        return user && actorOf(user, ceilingOf(claims), isLastingOf(claims));
      }
      if (roomId === null) return findIdentityActor(db, claims);
      const user = await findIdentityBearer(db, claims, roomId);
      return user && actorOf(user, limitOf(claims), false);
    },
  };
}

/**
 * An identity in a room, as its user there. FORBIDDEN unless its token is for the room, and it has joined it; UNAUTHORIZED
 * once the token has ended.
 */
export async function actorInRoom(db: Database, identity: IdentityActor, roomId: string): Promise<Actor> {
  const { accountId, identityId, epochs, rooms, rights } = identity;
  const claims = { accountId, identityId, accountEpoch: epochs.account, identityEpoch: epochs.identity };
  const user = await findIdentityBearer(db, { ...claims, ...(rooms && { rooms: [...rooms] }) }, roomId);
  if (user === null) throw tokenEnded();
  return actorOf(user, rights, false);
}

/** True for the token that a user has from its creation; its short-lived and narrowed ones do not show it. */
const isLastingOf = ({ iat, exp, narrowed }: TokenClaims): boolean =>
  exp - iat === TOKEN_LIFETIME_SECONDS.max && !narrowed;

type IdentityActor = Extract<Actor, { readonly type: "identity" }>;

function actorOf(user: BearerRow, limit: Rights, isByLastingToken: boolean): Actor {
  const rights = limit & rightsOfUser(user);
  if (rights === 0) throw new AppError("Auth", "FORBIDDEN", NO_ACCESS);
  const { id: userId, accountId, roomId, identityId, role, access, identityEpoch, roomState } = user;
  const decided = { role, access, identityEpoch, roomState, isByLastingToken };
  const of = { accountId, userId, roomId, identityId, isGuest: user.isGuest === 1 };
  return { type: "user", ...of, rights, readsOnly: onlyRead(limit), decided };
}
