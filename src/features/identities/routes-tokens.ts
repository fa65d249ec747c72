/** The endpoints for the tokens of identities. */

import {
  Identification,
  Identified,
  IdentityToken,
  IdentityTokenCreation,
  pendingRooms,
} from "@atrium/contract/rest/identities.ts";
import { decodeJwt } from "jose";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { Replay } from "../../http/idempotency/receipt.ts";
import { IdentityClaims } from "../../platform/token-claims.ts";
import type { IdentityContext } from "./commands.ts";
import { createIdentityToken, endIdentityTokens, identify, issueAgain } from "./identify.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const Kept = z.looseObject({ claims: IdentityClaims });

/** The receipt keeps the token's claims, from which `again` signs the token of a replay; null for none. */
export const keepClaims = (
  again: (ctx: IdentityContext, claims: IdentityClaims, secret: string | undefined) => Promise<object | null>,
): Replay<IdentityContext> => ({
  keep: (data) => {
    const { token, ...rest } = z.looseObject({ token: z.string() }).parse(data);
    return { ...rest, claims: IdentityClaims.parse(decodeJwt(token)) };
  },
  restore: async (ctx, kept, secret) => {
    const { claims, ...rest } = Kept.parse(kept);
    const issued = await again(ctx, claims, secret);
    return issued && { ...rest, ...issued };
  },
});

const SIGN_AGAIN = keepClaims(issueAgain);

export const endpoints = [
  endpoint({
    method: "POST",
    path: "/identify",
    operation: "identify",
    isForAgents: false,
    sdk: "identifyUser(user): data",
    summary: "Identify an end user",
    details:
      "Creates or updates the identity of your `customId`, and returns a token that opens every room as far as the identity has access there. Call it when a user signs in, and again before the token expires.",
    replay: SIGN_AGAIN,
    body: Identification,
    done: "Identified",
    data: Identified,
    audit: { resource: "identity", onlyCommitted: true }, // the ID is known once the identity is found
    handle: (ctx, { body }) => identify(ctx, body),
  }),
  endpoint({
    method: "POST",
    path: "/identities/:identityId/tokens",
    operation: "createIdentityToken",
    isForAgents: false,
    sdk: "identities.createToken(identityId, token?): data",
    summary: "Create a token of an identity",
    details: "A token as from `POST /identify`. It is not stored. Signed-in members get at most an hour.",
    errors: ["NOT_FOUND"],
    replay: SIGN_AGAIN,
    body: IdentityTokenCreation,
    status: 201,
    done: "Token created",
    data: IdentityToken,
    handle: (ctx, { params, body }) => createIdentityToken(ctx, params.identityId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/identities/:identityId/tokens",
    operation: "endIdentityTokens",
    isForAgents: false,
    sdk: "identities.endTokens(identityId)",
    summary: "End the tokens of an identity",
    details:
      "Refuses all tokens of the identity and of its users so far, and closes the sockets that joined with them (`authFailed`, 4401).",
    errors: ["NOT_FOUND"],
    done: "Tokens ended",
    data: z.object(pendingRooms),
    audit: { resource: "identity", id: ({ params }) => params.identityId },
    handle: (ctx, { params }) => endIdentityTokens(ctx, params.identityId),
  }),
];
