/** The doors by which people come in, and at which they look after themselves: all of `/dashboard/api`. */
import { openDoor, personDoor } from "../dashboard/api.ts";
import { getInvitation } from "../members/queries.ts";
import {
  acceptInvitation,
  changePassword,
  comeBack,
  createOrganization,
  signIn,
  signOut,
  signUp,
  updateMe,
} from "./commands.ts";
import { OrganizationCreation, PasswordChange, PersonUpdate, SignIn, SignUp } from "./schema.ts";

export const doors = [
  openDoor({
    method: "POST",
    path: "/sign-up",
    module: "Auth",
    body: SignUp,
    status: 201,
    done: "Signed up",
    handle: (visit, { body }) => signUp(visit, body),
  }),
  openDoor({
    method: "POST",
    path: "/sign-in",
    module: "Auth",
    body: SignIn,
    status: 200,
    done: "Signed in",
    handle: (visit, { body }) => signIn(visit, body),
  }),
  openDoor({
    method: "POST",
    path: "/sign-out",
    module: "Auth",
    status: 200,
    done: "Signed out",
    handle: (visit) => signOut(visit),
  }),
  personDoor({
    method: "GET",
    path: "/me",
    module: "Auth",
    status: 200,
    done: "You are signed in",
    handle: (visit) => comeBack(visit),
  }),
  personDoor({
    method: "PATCH",
    path: "/me",
    module: "Auth",
    body: PersonUpdate,
    status: 200,
    done: "Name changed",
    handle: (visit, { body }) => updateMe(visit, body),
  }),
  personDoor({
    method: "POST",
    path: "/password",
    module: "Auth",
    body: PasswordChange,
    status: 200,
    done: "Password changed; all other sessions have ended",
    handle: (visit, { body }) => changePassword(visit, body),
  }),
  personDoor({
    method: "POST",
    path: "/organizations",
    module: "Accounts",
    body: OrganizationCreation,
    status: 201,
    done: "Organization created",
    handle: (visit, { body }) => createOrganization(visit, body),
  }),
  openDoor({
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
  personDoor({
    method: "POST",
    path: "/invitations/:token/accept",
    module: "Accounts",
    status: 200,
    done: "Invitation accepted",
    handle: (visit, { params }) => acceptInvitation(visit, params.token ?? ""),
  }),
];
