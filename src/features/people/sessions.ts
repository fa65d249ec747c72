/** Authenticates people by their sign-in cookie, from memory while the entry is fresh, else with one D1 read. */

import { AppError } from "@atrium/contract/errors.ts";
import type { OwnOrganization } from "@atrium/contract/rest/people.ts";
import type { AuthPorts, Claim } from "../../http/authenticate.ts";
import { requireSameOrigin } from "../../http/security.ts";
import { TtlCache } from "../../platform/cache.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { requireRestored } from "../../platform/token-claims.ts";
import { selectAccountTokenEpoch } from "../users/statements.ts";
import { signInCookieOf, tokenHashOf, tokenIn } from "./cookies.ts";
import { type SignInRow, selectSignIn } from "./store.ts";

/** An ended sign-in session may work for this long in another isolate. */
const SIGN_IN_CACHE_MS = 10_000;

/** A person's stay in the dashboard from one browser. */
export interface SignInSession extends Omit<SignInRow, "organizations"> {
  readonly organizations: readonly OwnOrganization[];
}

/** Sessions by their token's hash, so that memory holds no usable token; null for a session that has ended. */
const cache = new TtlCache<SignInSession | null>({ ttlMs: SIGN_IN_CACHE_MS, maxEntries: 10_000 });

/** Evicts all sign-in sessions of a person from this isolate; others follow within {@link SIGN_IN_CACHE_MS}. */
export const evictPerson = (personId: string): void =>
  cache.deleteWhere((session) => session?.personId === personId);

/** The same of all members of an organization. */
export const evictMembersOf = (accountId: string): void =>
  cache.deleteWhere((session) => session?.organizations.some(({ id }) => id === accountId) === true);

/** The same of one sign-in session. */
export const evictSignIn = (tokenHash: string): boolean => cache.delete(tokenHash);

export const parseOrganizations = (json: string): OwnOrganization[] => JSON.parse(json) as OwnOrganization[];

/** The hash of a cookie's token; null when this service did not sign it. */
export async function signedHashOf(cookie: string, secret: string): Promise<string | null> {
  const token = await tokenIn(cookie, secret);
  return token === null ? null : tokenHashOf(token);
}

/** The sign-in session in memory: null when it has ended, undefined when only D1 knows. */
export function recallSignIn(hash: string, now: number): SignInSession | null | undefined {
  const session = cache.get(hash, now);
  return session != null && session.expiresAt <= now ? null : session;
}

/** The sign-in session from D1; null when it has ended. */
export const readSignIn = async (db: Database, hash: string, now: number): Promise<SignInSession | null> =>
  (await readSignInFor(db, hash, now, "")).session;

/** The same, and in the same trip the token epoch of an organization. */
async function readSignInFor(db: Database, hash: string, now: number, accountId: string) {
  if (recallSignIn(hash, now) === null) return { session: null };
  const [[row], [account]] = await db.run([selectSignIn(hash), selectAccountTokenEpoch({ db, accountId })]);
  const session =
    row === undefined || row.expiresAt <= now
      ? null
      : { ...row, organizations: parseOrganizations(row.organizations) };
  cache.set(hash, session, now);
  return { session, tokenEpoch: account?.tokenEpoch };
}

/**
 * A member of the organization in the path. The cookie counts only in requests from `origin` without an `Authorization`
 * header. A session in memory that lacks the organization is read again, since the person may have joined it. Such reads
 * count as guesses, or anyone could load the database with foreign account IDs.
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
        throw new AppError("Auth", "FORBIDDEN", "You are not a member of the organization in the path");
      }
      return { type: "person", accountId, personId, name, role: membership.role };
    },
  };
}
