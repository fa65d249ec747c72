/** The endpoints of passkeys in `/dashboard/api`: signing in by one, and the person's own. */

import {
  PasskeyCreation,
  PasskeyDeletion,
  PasskeyProof,
  PasskeySignIn,
  PasskeyUpdate,
} from "@atrium/contract/rest/passkeys.ts";
import { personEndpoint, publicEndpoint } from "../people/context.ts";
import {
  createPasskey,
  planPasskey,
  planPasskeySignIn,
  removePasskey,
  renamePasskey,
  signInByPasskey,
} from "./commands.ts";
import { listPasskeys } from "./queries.ts";

export const passkeyEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/sign-in/passkey",
    done: "Options created",
    handle: planPasskeySignIn,
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-in/passkey",
    body: PasskeySignIn,
    done: "Signed in",
    handle: (ctx, { body }) => signInByPasskey(ctx, body),
  }),
  personEndpoint({ method: "GET", path: "/passkeys", done: "Passkeys retrieved", handle: listPasskeys }),
  personEndpoint({
    method: "POST",
    path: "/passkeys/options",
    body: PasskeyProof,
    done: "Options created",
    handle: (ctx, { body }) => planPasskey(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/passkeys",
    body: PasskeyCreation,
    status: 201,
    done: "Passkey added",
    handle: (ctx, { body }) => createPasskey(ctx, body),
  }),
  personEndpoint({
    method: "PATCH",
    path: "/passkeys/:id",
    body: PasskeyUpdate,
    done: "Passkey renamed",
    handle: (ctx, { params, body }) => renamePasskey(ctx, params.id ?? "", body.name),
  }),
  personEndpoint({
    method: "POST",
    path: "/passkeys/:id/delete",
    body: PasskeyDeletion,
    done: "Passkey removed",
    handle: (ctx, { params, body }) => removePasskey(ctx, params.id ?? "", body),
  }),
];
