/** The endpoints in `/dashboard/api` by which people come to organizations. */
import { personEndpoint, publicEndpoint } from "../people/dashboard-endpoint.ts";
import { OrganizationCreation, SignUp } from "../people/schema.ts";
import { acceptInvitation, createOrganization, signUp } from "./onboarding.ts";
import { getInvitation } from "./queries.ts";
import { presentInvitationPreview } from "./schema.ts";

export const onboardingEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/sign-up",
    module: "Auth",
    status: 200,
    done: "Sign-up policy retrieved",
    handle: async (ctx) => ({ data: ctx.signUpPolicy() }),
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-up",
    module: "Auth",
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
    handle: (ctx, { body }) => createOrganization(ctx, body),
  }),
  publicEndpoint({
    method: "GET",
    path: "/invitations/:token",
    module: "Accounts",
    status: 200,
    done: "Invitation retrieved",
    handle: async ({ db, now }, { params }) => ({
      data: presentInvitationPreview(await getInvitation(db, params.token ?? "", now())),
    }),
  }),
  personEndpoint({
    method: "POST",
    path: "/invitations/:token/accept",
    module: "Accounts",
    status: 200,
    done: "Invitation accepted",
    handle: (ctx, { params }) => acceptInvitation(ctx, params.token ?? ""),
  }),
];
