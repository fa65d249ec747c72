/** Authenticates members of an organization by the dashboard's session cookie. */

import type { AuthPorts, Claim } from "../../http/authenticate.ts";
import { requireSameOrigin } from "../../http/security/csrf.ts";
import { AppError } from "../../platform/errors.ts";
import { requireRestored } from "../../wire/being-restored.ts";
import { signInCookieOf } from "./sign-in-cookie.ts";
import { readSignInFor, recallSignIn, type SignInSession, signedHashOf } from "./verify-cookie.ts";

/**
 * A member of the organization in the path, for requests from the service's `origin`. The cookie counts only in a request without an `Authorization` header.
 * A session in memory that lacks the organization is read again, because the person may have joined since: that is
 * counted like an attempt to guess, or any person could make the database work for organizations of others.
 */
export async function authenticateMember(
  request: Request,
  { directory, accountId, now }: AuthPorts,
  { cookieSecret, origin }: { readonly cookieSecret: string; readonly origin: string },
): Promise<Claim | null | undefined> {
  const cookie = request.headers.has("Authorization") ? null : signInCookieOf(request);
  if (cookie === null) return undefined;
  requireSameOrigin(request, origin);
  const hash = await signedHashOf(cookie, cookieSecret);
  if (hash === null) return null;
  const membershipOf = (session: SignInSession) => session.organizations.find(({ id }) => id === accountId);
  const known = recallSignIn(hash, now());
  const suffices = known === null || (known !== undefined && membershipOf(known) !== undefined);
  return {
    credential: `session:${hash}`,
    accountId: suffices && known !== null ? accountId : null,
    isOfUser: false,
    isOurs: known === undefined || suffices,
    verify: async () => {
      const { session, tokenEpoch } = suffices
        ? { session: known }
        : await readSignInFor(directory, hash, now(), accountId);
      if (session === null) return null;
      const { personId, name } = session;
      const membership = membershipOf(session);
      if (membership === undefined) {
        requireRestored(tokenEpoch);
        throw new AppError("Auth", "FORBIDDEN", "You are not a member of the account in the path");
      }
      return { type: "person", accountId, personId, name, role: membership.role };
    },
  };
}
