/** A sign-in by a provider that has begun, kept in the browser's cookie until the provider sends the browser back. */

import { openTicket, sealerFor, sealTicket } from "../../platform/crypto/sealer.ts";
import { OIDC_LIFETIME_MS } from "../people/cookies.ts";

export interface Flow {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
  /** The page of the dashboard to show then. */
  readonly next: string;
  /** The token of an invitation that a new person accepts; null without one. */
  readonly invitation: string | null;
  /** The first owner's code, likewise. */
  readonly code: string | null;
  /** The signed-in person who connects an account; null for a sign-in. */
  readonly personId: string | null;
}

const PURPOSE = "atrium oidc";

/** Seals a flow for the cookie. */
export const sealFlow = (flow: Flow, secret: string, now: number): Promise<string> =>
  sealTicket(sealerFor([secret], PURPOSE), flow, now + OIDC_LIFETIME_MS);

/** The flow in a cookie; null when it has expired, or this service did not seal it. */
export const openFlow = (cookie: string | null, secret: string, now: number): Promise<Flow | null> =>
  openTicket<Flow>(sealerFor([secret], PURPOSE), cookie ?? "", now);
