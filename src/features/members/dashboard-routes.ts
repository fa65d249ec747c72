/** Endpoints below `/dashboard/api` for joining organizations and choosing mails. */

import { OrganizationCreation, Setup, SignUp } from "@atrium/contract/rest/people.ts";
import * as z from "zod";
import { personEndpoint, publicEndpoint } from "../people/context.ts";
import { linkHashOf, setupHashOf } from "../people/links.ts";
import { setNotices } from "./commands.ts";
import { acceptInvitation, createOrganization, signUp } from "./onboarding.ts";
import { getInvitation, getNotices, issueWatchToken } from "./queries.ts";

export const memberPageEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/sign-up",
    done: "Sign-up policy retrieved",
    handle: async (ctx) => ({ data: ctx.signUpPolicy() }),
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-up",
    body: SignUp,
    status: 201,
    done: "Signed up",
    handle: (ctx, { body }) => signUp(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/organizations",
    module: "Accounts",
    body: OrganizationCreation,
    status: 201,
    done: "Organization created",
    handle: (ctx, { body }) => createOrganization(ctx, body.name),
  }),
  publicEndpoint({
    method: "GET",
    path: "/invitations/:token",
    module: "Accounts",
    done: "Invitation retrieved",
    handle: async ({ db, now }, { params }) => {
      const { organization, invitedBy } = await getInvitation(
        db,
        await linkHashOf(params.token ?? ""),
        now(),
      );
      return { data: { organization: { name: organization }, invited_by: invitedBy } };
    },
  }),
  personEndpoint({
    method: "POST",
    path: "/invitations/:token/accept",
    module: "Accounts",
    done: "Invitation accepted",
    handle: async (ctx, { params }) => acceptInvitation(ctx, await linkHashOf(params.token ?? "")),
  }),
  personEndpoint({
    method: "POST",
    path: "/setup",
    body: Setup,
    done: "Set up",
    handle: async (ctx, { body }) => acceptInvitation(ctx, await setupHashOf(body.code)),
  }),
  personEndpoint({
    method: "GET",
    path: "/organizations/:accountId/notices",
    module: "Accounts",
    done: "Setting retrieved",
    handle: (ctx, { params }) => getNotices(ctx, params.accountId ?? ""),
  }),
  personEndpoint({
    method: "PATCH",
    path: "/organizations/:accountId/notices",
    module: "Accounts",
    body: z.strictObject({ wanted: z.boolean() }),
    done: "Setting changed",
    handle: (ctx, { params, body }) => setNotices(ctx, params.accountId ?? "", body.wanted),
  }),
  personEndpoint({
    method: "POST",
    path: "/organizations/:accountId/rooms/:roomId/watch",
    module: "Rooms",
    status: 201,
    done: "Token created",
    handle: (ctx, { params }) => issueWatchToken(ctx, params.accountId ?? "", params.roomId ?? ""),
  }),
];
