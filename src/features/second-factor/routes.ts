/** The endpoints of `/dashboard/api` for signing in by a password, and for the second factor. */

import { SignIn } from "@atrium/contract/rest/people.ts";
import {
  FactorConfirmation,
  FactorProofInput,
  FactorSetUpRequest,
} from "@atrium/contract/rest/second-factor.ts";
import { personEndpoint, publicEndpoint } from "../people/context.ts";
import {
  confirmFactor,
  getFactorStatus,
  renewRecoveryCodes,
  setUpFactor,
  turnOffFactor,
} from "./commands.ts";
import { signIn } from "./sign-in.ts";

export const secondFactorEndpoints = [
  publicEndpoint({
    method: "POST",
    path: "/sign-in",
    body: SignIn,
    done: "Signed in",
    handle: (ctx, { body }) => signIn(ctx, body),
  }),
  personEndpoint({
    method: "GET",
    path: "/second-factor",
    done: "Second factor retrieved",
    handle: getFactorStatus,
  }),
  personEndpoint({
    method: "POST",
    path: "/second-factor/set-up",
    body: FactorSetUpRequest,
    done: "Enter a first code to activate the second factor",
    handle: (ctx, { body }) => setUpFactor(ctx, body.password),
  }),
  personEndpoint({
    method: "POST",
    path: "/second-factor",
    body: FactorConfirmation,
    status: 201,
    done: "Second factor activated",
    handle: (ctx, { body }) => confirmFactor(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/second-factor/off",
    body: FactorProofInput,
    done: "Second factor turned off",
    handle: (ctx, { body }) => turnOffFactor(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/second-factor/recovery-codes",
    body: FactorProofInput,
    status: 201,
    done: "Recovery codes replaced",
    handle: (ctx, { body }) => renewRecoveryCodes(ctx, body),
  }),
];
