/** The endpoints of people in `/dashboard/api`: sign-in, sign-out, name and password. */
import { findMe, getMe, signIn, signOut, updateMe } from "./commands.ts";
import { personEndpoint, publicEndpoint } from "./context.ts";
import {
  changePassword,
  previewPasswordLink,
  requestPasswordLink,
  setPasswordByLink,
} from "./password-commands.ts";
import { NewPasswordByLink, PasswordChange, PasswordLinkRequest, PersonUpdate, SignIn } from "./schema.ts";

export const peopleEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/challenge",
    module: "Auth",
    status: 200,
    done: "Challenge retrieved",
    handle: async (ctx) => ({ data: { site_key: ctx.challenge().siteKey } }),
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
  publicEndpoint({
    method: "GET",
    path: "/session",
    module: "Auth",
    status: 200,
    done: "Session retrieved",
    handle: (ctx) => findMe(ctx),
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
];

export const passwordLinkEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/password-links",
    module: "Auth",
    status: 200,
    done: "Whether links are sent by mail",
    handle: async (ctx) => ({ data: { by_mail: ctx.mail() !== null } }),
  }),
  publicEndpoint({
    method: "POST",
    path: "/password-links",
    module: "Auth",
    body: PasswordLinkRequest,
    status: 200,
    done: "A link is on its way if a person has this address",
    handle: (ctx, { body }) => requestPasswordLink(ctx, body),
  }),
  publicEndpoint({
    method: "GET",
    path: "/password-links/:token",
    module: "Auth",
    status: 200,
    done: "Link retrieved",
    handle: (ctx, { params }) => previewPasswordLink(ctx, params.token ?? ""),
  }),
  publicEndpoint({
    method: "POST",
    path: "/password-links/:token",
    module: "Auth",
    body: NewPasswordByLink,
    status: 200,
    done: "Password changed; all other sessions have ended",
    handle: (ctx, { params, body }) => setPasswordByLink(ctx, params.token ?? "", body),
  }),
];
