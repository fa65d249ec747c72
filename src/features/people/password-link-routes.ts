/** The endpoints in `/dashboard/api` of links for a new password. */
import { publicEndpoint } from "./dashboard-endpoint.ts";
import { previewPasswordLink, setPasswordByLink } from "./password-links.ts";
import { requestPasswordLink } from "./password-requests.ts";
import { NewPasswordByLink, PasswordLinkRequest } from "./schema.ts";

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
