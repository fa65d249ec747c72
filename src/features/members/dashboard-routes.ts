/** Endpoints below `/dashboard/api` for joining organizations and choosing mails. */

import { OrganizationCreation, SignUp } from "@atrium/contract/rest/people.ts";
import * as z from "zod";
import { personEndpoint, publicEndpoint } from "../people/context.ts";
import { setNotices } from "./commands.ts";
import { acceptInvitation, createOrganization, signUp } from "./onboarding.ts";
import { getInvitation, getNotices } from "./queries.ts";

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
      const { organization, invitedBy } = await getInvitation(db, params.token ?? "", now());
      return { data: { organization: { name: organization }, invited_by: invitedBy } };
    },
  }),
  personEndpoint({
    method: "POST",
    path: "/invitations/:token/accept",
    module: "Accounts",
    done: "Invitation accepted",
    handle: (ctx, { params }) => acceptInvitation(ctx, params.token ?? ""),
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
];
