/** The Authorization scheme of a room's users: `Bearer <JWT>`. */
import { bearerOf, type Scheme } from "../http/authenticate.ts";
import { findTokenBearer } from "./queries.ts";
import type { Tokens } from "./tokens.ts";

/** A user of a room, by a token that `tokens` verifies; Base64 has no dots, a JWT has two. */
export const userTokenScheme =
  (tokens: Tokens): Scheme =>
  async (request, { db, now }) => {
    const bearer = bearerOf(request);
    if (bearer === null || !bearer.includes(".")) return undefined;
    const claims = await tokens.verify(bearer, now());
    const user = claims && (await findTokenBearer(db, claims));
    return (
      user && {
        type: "user",
        accountId: user.accountId,
        userId: user.id,
        roomId: user.roomId,
        role: user.role,
      }
    );
  };
