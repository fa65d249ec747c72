/** Verifies a sign-in cookie, from memory while the entry is fresh, else with one D1 read. */
import type { Database } from "../platform/d1.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import type { OwnOrganization } from "./schema.ts";
import { tokenHashOf, tokenIn } from "./sign-in-cookie.ts";
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

/** By the token's hash, so that no usable token stays in memory. */
const cache = new TtlCache<SignInSession>({ ttlMs: SIGN_IN_CACHE_MS, maxEntries: MAX_CACHED });

/** Evicts all sign-in sessions of a person from this isolate; others follow within {@link SIGN_IN_CACHE_MS}. */
export const evictPerson = (personId: string): void =>
  cache.deleteWhere((session) => session.personId === personId);

/** Evicts one sign-in session from this isolate; others follow within {@link SIGN_IN_CACHE_MS}. */
export const evictSignIn = (tokenHash: string): boolean => cache.delete(tokenHash);

/** A person's organizations from a row's JSON. */
export const parseOrganizations = (json: string): OwnOrganization[] => JSON.parse(json) as OwnOrganization[];

export interface VerifyOptions {
  readonly db: Database;
  /** The secret that signs the cookies. */
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** False to read a cached session anew, such as one that lacks the organization a request needs. */
  suffices(session: SignInSession): boolean;
}

/**
 * The sign-in session of a cookie's value; null when this service did not sign it or it has ended.
 * A forged cookie costs no D1 read.
 */
export async function verifySignIn(
  cookie: string,
  { db, secret, now, suffices }: VerifyOptions,
): Promise<SignInSession | null> {
  const token = await tokenIn(cookie, secret);
  if (token === null) return null;
  const hash = tokenHashOf(token);
  const cached = cache.get(hash, now);
  if (cached !== undefined && cached.expiresAt > now && suffices(cached)) return cached;
  cache.delete(hash);
  const [[row]] = await db.run([selectSignIn(hash)]);
  if (row === undefined || row.expiresAt <= now) return null;
  const session = { ...row, organizations: parseOrganizations(row.organizations) };
  cache.set(hash, session, now);
  return session;
}
