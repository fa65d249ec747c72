/** Authenticates the users of rooms by their tokens: `Bearer <JWT>`. */
import { type AuthPorts, bearerOf, type Claim } from "../../http/authenticate.ts";
import { AppError } from "../../platform/errors.ts";
import { ceilingOf } from "../../wire/token-claims.ts";
import { findTokenBearer } from "./queries.ts";
import { rightsOfUser } from "./statements.ts";
import type { Tokens } from "./tokens.ts";

/** The user whose token `tokens` verifies. A credential without dots is not a JWT. */
export async function authenticateUser(
  request: Request,
  { db, now }: AuthPorts,
  tokens: Tokens,
): Promise<Claim | null | undefined> {
  const bearer = bearerOf(request);
  if (bearer === null || !bearer.includes(".")) return undefined;
  const claims = await tokens.verify(bearer, now());
  if (claims === null) return null;
  return {
    credential: `user:${claims.userId}`,
    accountId: claims.accountId,
    isOfUser: true,
    isOurs: true,
    verify: async () => {
      const user = await findTokenBearer(db, claims);
      if (user === null) return null;
      const { accountId, userId, roomId } = claims;
      const rights = ceilingOf(claims) & rightsOfUser(user);
      if (rights === 0) throw new AppError("Auth", "FORBIDDEN", "You have no access to this room");
      return { type: "user", accountId, userId, roomId, rights, isLinked: user.identityId !== null };
    },
  };
}
