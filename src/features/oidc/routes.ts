/** The endpoints of `/dashboard/api` for the company's OpenID Connect provider, and for what a person signs in by. */

import { OidcConnection, OidcReturn, OidcStart } from "@atrium/contract/rest/people.ts";
import { personEndpoint, publicEndpoint } from "../people/context.ts";
import { disconnectProvider, getCredentials } from "../people/provider-commands.ts";
import { finish, startConnection, startSignIn } from "./commands.ts";

export const oidcEndpoints = [
  publicEndpoint({
    method: "POST",
    path: "/oidc/start",
    body: OidcStart,
    done: "Go to the provider",
    handle: (ctx, { body }) => startSignIn(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/oidc/connect",
    body: OidcConnection,
    done: "Go to the provider",
    handle: (ctx, { body }) => startConnection(ctx, body),
  }),
  publicEndpoint({
    method: "POST",
    path: "/oidc/finish",
    body: OidcReturn,
    done: "The provider knows the person",
    handle: (ctx, { body }) => finish(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/oidc/disconnect",
    done: "Disconnected",
    handle: disconnectProvider,
  }),
  personEndpoint({
    method: "GET",
    path: "/me/credentials",
    done: "Ways to sign in retrieved",
    handle: getCredentials,
  }),
];
