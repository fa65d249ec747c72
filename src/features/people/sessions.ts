/** Verifies a sign-in cookie, from memory while the entry is fresh, else with one D1 read. */

import type { AuthPorts, Claim } from "../../http/authenticate.ts";
import { requireSameOrigin } from "../../http/security.ts";
import { TtlCache } from "../../platform/cache.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import { requireRestored } from "../../wire/token-claims.ts";
import { selectAccountTokenEpoch } from "../users/statements.ts";
import { signInCookieOf, tokenHashOf, tokenIn } from "./cookies.ts";
import type { OwnOrganization } from "./schema.ts";
import { selectSignIn } from "./store.ts";

/** How much longer a sign-in session that has ended may work in another isolate. */
export const SIGN_IN_CACHE_MS = 10_000;
const MAX_CACHED = 10_000;

/** A person's stay in the dashboard from one browser, with what it gives access to. */
export interface SignInSession {
  readonly tokenHash: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  readonly organizations: readonly OwnOrganization[];
}

/**
 * By the token's hash, so that no usable token stays in memory; null for a session that has ended, because it does not
 * begin again.
 */
const cache = new TtlCache<SignInSession | null>({ ttlMs: SIGN_IN_CACHE_MS, maxEntries: MAX_CACHED });

/** Evicts all sign-in sessions of a person from this isolate; others follow within {@link SIGN_IN_CACHE_MS}. */
export const evictPerson = (personId: string): void =>
  cache.deleteWhere((session) => session?.personId === personId);

/** The same of all persons of an organization. */
export const evictMembersOf = (accountId: string): void =>
  cache.deleteWhere((session) => session?.organizations.some(({ id }) => id === accountId) === true);

/** Evicts one sign-in session from this isolate; others follow within {@link SIGN_IN_CACHE_MS}. */
export const evictSignIn = (tokenHash: string): boolean => cache.delete(tokenHash);

/** A person's organizations from a row's JSON. */
export const parseOrganizations = (json: string): OwnOrganization[] => JSON.parse(json) as OwnOrganization[];

/** The hash of a cookie's token; null when this service did not sign it. */
export async function signedHashOf(cookie: string, secret: string): Promise<string | null> {
  const token = await tokenIn(cookie, secret);
  return token === null ? null : tokenHashOf(token);
}

/** The sign-in session in memory: null when it has ended, undefined when D1 has to be asked. */
export function recallSignIn(hash: string, now: number): SignInSession | null | undefined {
  const session = cache.get(hash, now);
  return session != null && session.expiresAt <= now ? null : session;
}

/** The sign-in session from D1; null when it has ended, which memory may know already. */
export const readSignIn = async (db: Database, hash: string, now: number): Promise<SignInSession | null> =>
  (await readSignInFor(db, hash, now, "")).session;

/** The same, and in the same trip the token epoch of an organization. */
async function readSignInFor(
  db: Database,
  hash: string,
  now: number,
  accountId: string,
): Promise<{ readonly session: SignInSession | null; readonly tokenEpoch?: number | undefined }> {
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
