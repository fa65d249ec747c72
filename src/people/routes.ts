/** The endpoints of `/dashboard/api`: signing up, in and out, the signed-in person, organizations and invitations. */

import { getInvitation } from "../members/queries.ts";
import {
  acceptInvitation,
  changePassword,
  createOrganization,
  getMe,
  signIn,
  signOut,
  signUp,
  updateMe,
} from "./commands.ts";
import { personEndpoint, publicEndpoint } from "./dashboard-endpoint.ts";
import { OrganizationCreation, PasswordChange, PersonUpdate, SignIn, SignUp } from "./schema.ts";

export const peopleEndpoints = [
  publicEndpoint({
    method: "POST",
    path: "/sign-up",
    module: "Auth",
    body: SignUp,
    status: 201,
    done: "Signed up",
    handle: (ctx, { body }) => signUp(ctx, body),
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-in",
    module: "Auth",
    body: SignIn,
    status: 200,
    done: "Signed in",
    handle: (ctx, { body }) => signIn(ctx, body),
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-out",
    module: "Auth",
    status: 200,
    done: "Signed out",
    handle: (ctx) => signOut(ctx),
  }),
  personEndpoint({
    method: "GET",
    path: "/me",
    module: "Auth",
    status: 200,
    done: "You are signed in",
    handle: (ctx) => getMe(ctx),
  }),
  personEndpoint({
    method: "PATCH",
    path: "/me",
    module: "Auth",
    body: PersonUpdate,
    status: 200,
    done: "Name changed",
    handle: (ctx, { body }) => updateMe(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/password",
    module: "Auth",
    body: PasswordChange,
    status: 200,
    done: "Password changed; all other sessions have ended",
    handle: (ctx, { body }) => changePassword(ctx, body),
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
    handle: async ({ db, now }, { params }) => {
      const { organization, invitedBy } = await getInvitation(db, params.token ?? "", now());
      return { data: { organization: { name: organization }, invited_by: invitedBy } };
    },
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
