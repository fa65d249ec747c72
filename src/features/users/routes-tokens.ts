/** The endpoints of users' tokens. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { Replay } from "../../http/idempotency/replay.ts";
import { claimsOf, type TokenClaims } from "../../wire/token-claims.ts";
import type { UserContext } from "./context.ts";
import { InRoom, IssuedToken, TokenCreation } from "./schema.ts";
import { createToken, endAllTokens, endTokens } from "./token-commands.ts";

const { endpoint } = endpointsFor<UserContext>();

/** The receipt keeps the token's claims, from which the same token is signed again. */
const SIGN_AGAIN: Replay<UserContext> = {
  keep: (data) => {
    const { token, ...rest } = IssuedToken.parse(data);
    return { ...rest, claims: claimsOf(token) };
  },
  restore: async (ctx, kept) => {
    const { claims, ...rest } = kept as { claims: TokenClaims };
    return { ...rest, token: await ctx.tokens.signAgain(claims) };
  },
};

export const tokenEndpoints = [
  endpoint({
    method: "POST",
    path: "/users/:userId/tokens",
    operation: "createToken",
    module: "Users",
    access: "organization",
    summary: "Create a short-lived token",
    details:
      "A JWT like the user's `token`, but for `ttl` seconds and, if you like, a lower role. It is not stored. Signed-in members get at most an hour.",
    errors: ["NOT_FOUND", "CONFLICT"],
    replay: SIGN_AGAIN,
    query: InRoom,
    body: TokenCreation,
    status: 201,
    done: "Token created",
    data: IssuedToken,
    handle: (ctx, { params, query, body }) => createToken(ctx, query.roomId, params.userId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId/tokens",
    operation: "endTokens",
    module: "Users",
    access: "organization",
    summary: "End a user's tokens",
    details:
      "Refuses all tokens of the user so far, short-lived ones too, and closes the sockets that joined with them (`authFailed`, 4401). The user's `token` is a new one from then on, valid for 90 days.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    status: 200,
    done: "Tokens ended",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => endTokens(ctx, query.roomId, params.userId),
  }),
  endpoint({
    method: "DELETE",
    path: "/tokens",
    operation: "endAllTokens",
    module: "Users",
    access: "organization",
    summary: "End the tokens of all users",
    details:
      "The same for every user of the organization, for example after a leak. Only owners and API keys can do this. With more than 200 rooms online, the sockets of the others close within minutes.",
    errors: [],
    status: 200,
    done: "All tokens ended",
    data: z.object({}),
    audit: { resource: "tokens" },
    handle: (ctx) => endAllTokens(ctx),
  }),
];
