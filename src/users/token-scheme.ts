/** Authenticates the users of rooms by their tokens: `Bearer <JWT>`. */
import type { Actor } from "../context/actor.ts";
import { type AuthPorts, bearerOf } from "../http/authenticate.ts";
import { findTokenBearer } from "./queries.ts";
import type { Tokens } from "./tokens.ts";

/** The user whose token `tokens` verifies. A credential without dots is not a JWT. */
export async function authenticateUser(
  request: Request,
  { db, now }: AuthPorts,
  tokens: Tokens,
): Promise<Actor | null | undefined> {
  const bearer = bearerOf(request);
  if (bearer === null || !bearer.includes(".")) return undefined;
  const claims = await tokens.verify(bearer, now());
  const user = claims && (await findTokenBearer(db, claims));
  return (
    user && { type: "user", accountId: user.accountId, userId: user.id, roomId: user.roomId, role: user.role }
  );
}
