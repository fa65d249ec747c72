/** The endpoints of people in `/dashboard/api`: their sessions, name and password, and links for a new password. */

import {
  NewPasswordByLink,
  PasswordChange,
  PasswordLinkRequest,
  PersonUpdate,
  type SignInSetup,
} from "@atrium/contract/rest/people.ts";
import { findMe, getMe, signOut, updateMe } from "./commands.ts";
import { type DashboardContext, personEndpoint, publicEndpoint } from "./context.ts";
import {
  changePassword,
  previewPasswordLink,
  requestPasswordLink,
  setPasswordByLink,
} from "./password-commands.ts";
import { endOtherSignIns, endSignIn, listSignIns } from "./session-commands.ts";

/** What the pages for signing in and up show. */
const signInSetup = (ctx: DashboardContext): SignInSetup => {
  const oidc = ctx.oidc();
  return {
    site_key: ctx.challenge().siteKey,
    passwords: ctx.hasPasswords,
    oidc: oidc && { name: oidc.name },
  };
};

export const peopleEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/challenge",
    done: "Challenge retrieved",
    handle: async (ctx) => ({ data: signInSetup(ctx) }),
  }),
  publicEndpoint({ method: "POST", path: "/sign-out", done: "Signed out", handle: signOut }),
  publicEndpoint({ method: "GET", path: "/session", done: "Session retrieved", handle: findMe }),
  personEndpoint({ method: "GET", path: "/me", done: "You are signed in", handle: getMe }),
  personEndpoint({
    method: "PATCH",
    path: "/me",
    body: PersonUpdate,
    done: "Name changed",
    handle: (ctx, { body }) => updateMe(ctx, body),
  }),
  personEndpoint({ method: "GET", path: "/sessions", done: "Sessions retrieved", handle: listSignIns }),
  personEndpoint({
    method: "POST",
    path: "/sessions/end-others",
    done: "All other sessions ended",
    handle: endOtherSignIns,
  }),
  personEndpoint({
    method: "POST",
    path: "/sessions/:id/end",
    done: "Session ended",
    handle: (ctx, { params }) => endSignIn(ctx, params.id ?? ""),
  }),
  personEndpoint({
    method: "POST",
    path: "/password",
    body: PasswordChange,
    done: "Password changed; all other sessions have ended",
    handle: (ctx, { body }) => changePassword(ctx, body),
  }),
  publicEndpoint({
    method: "GET",
    path: "/password-links",
    done: "Whether links are sent by mail",
    handle: async (ctx) => ({ data: { by_mail: ctx.mail() !== null } }),
  }),
  publicEndpoint({
    method: "POST",
    path: "/password-links",
    body: PasswordLinkRequest,
    done: "A link is on its way if a person has this address",
    handle: (ctx, { body }) => requestPasswordLink(ctx, body),
  }),
  publicEndpoint({
    method: "GET",
    path: "/password-links/:token",
    done: "Link retrieved",
    handle: (ctx, { params }) => previewPasswordLink(ctx, params.token ?? ""),
  }),
  publicEndpoint({
    method: "POST",
    path: "/password-links/:token",
    body: NewPasswordByLink,
    done: "Password changed; all other sessions have ended",
    handle: (ctx, { params, body }) => setPasswordByLink(ctx, params.token ?? "", body),
  }),
];
