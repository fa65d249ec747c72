/** The endpoints in `/dashboard/api` of links for a new password. */
import { publicEndpoint } from "./dashboard-endpoint.ts";
import { previewPasswordLink, setPasswordByLink } from "./password-links.ts";
import { NewPasswordByLink } from "./schema.ts";

export const passwordLinkEndpoints = [
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
