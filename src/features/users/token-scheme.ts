/** Authenticates the users of rooms by their tokens, and by those of their identities: `Bearer <JWT>`. */
import { type AuthPorts, bearerOf, type Claim } from "../../http/authenticate.ts";
import type { Actor } from "../../platform/d1/context.ts";
import { AppError } from "../../platform/errors.ts";
import { NO_ACCESS } from "../../wire/no-access.ts";
import type { Rights } from "../../wire/permissions.ts";
import { ceilingOf, limitOf } from "../../wire/token-claims.ts";
import { findIdentityActor, findIdentityBearer, findTokenBearer } from "./queries.ts";
import { rightsOfUser } from "./statements.ts";
import type { BearerRow } from "./table.ts";
import type { Tokens } from "./tokens.ts";

/**
 * The user whose token `tokens` verifies, or the identity itself where the request names no room. A credential without
 * dots is not a JWT.
 */
export async function authenticateUser(
  request: Request,
  { db, now }: AuthPorts,
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
        return user && actorOf(user, ceilingOf(claims), false);
      }
      const roomId = roomOf(request);
      if (roomId === null) return findIdentityActor(db, claims);
      const user = await findIdentityBearer(db, claims, roomId);
      return user && actorOf(user, limitOf(claims), true);
    },
  };
}

function actorOf(user: BearerRow, limit: Rights, isByIdentity: boolean): Actor {
  const rights = limit & rightsOfUser(user);
  if (rights === 0) throw new AppError("Auth", "FORBIDDEN", NO_ACCESS);
  const { id: userId, accountId, roomId, role, access, identityEpoch, roomState } = user;
  const decided = { role, access, identityEpoch, roomState, isByIdentity };
  return { type: "user", accountId, userId, roomId, rights, decided };
}

/** Whether a request is about the identity itself, and not about a room. */
const isAboutItself = (pathname: string): boolean => /^\/v1\/accounts\/[^/]+\/me\//.test(pathname);

/** The room that a request is about, of which an identity's token says nothing. Null without one. */
function roomOf({ url }: Request): string | null {
  const { pathname, searchParams } = new URL(url);
  if (isAboutItself(pathname)) return null;
  return /^\/v1\/accounts\/[^/]+\/rooms\/([^/]+)\//.exec(pathname)?.[1] ?? searchParams.get("roomId");
}
