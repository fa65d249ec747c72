/** Tells who is signed in by a session cookie, from memory while that is fresh, else with one D1 read. */
import type { Database } from "../platform/d1.ts";
import type { OwnOrganization } from "./schema.ts";
import { tokenHashOf, tokenIn } from "./sign-in-cookie.ts";
import { type SessionRow, selectSession } from "./store.ts";

/** A session that has ended may work this much longer where another instance still remembers it. */
export const SIGN_IN_CACHE_MS = 10_000;
const MAX_REMEMBERED = 10_000;

/** Somebody who is signed in. */
export interface SignInSession {
  readonly tokenHash: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  readonly organizations: readonly OwnOrganization[];
}

interface Remembered extends SignInSession {
  readonly until: number;
}

/** By the token's hash, so that no usable token stays in memory. Oldest first. */
const remembered = new Map<string, Remembered>();

/** Forgets all of a person's sessions at once, in this instance; the others follow within {@link SIGN_IN_CACHE_MS}. */
export function evictPerson(personId: string): void {
  for (const [hash, session] of remembered) if (session.personId === personId) remembered.delete(hash);
}

/** Forgets a session at once, in this instance; the others follow as well. */
export const evictSignIn = (tokenHash: string): boolean => remembered.delete(tokenHash);

function remember(session: SignInSession, now: number): void {
  const oldest = remembered.keys().next();
  if (remembered.size >= MAX_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
  remembered.delete(session.tokenHash);
  remembered.set(session.tokenHash, { ...session, until: now + SIGN_IN_CACHE_MS });
}

/** A person's organizations as a statement answers them. */
export const parseOrganizations = (json: string): OwnOrganization[] => JSON.parse(json) as OwnOrganization[];

const signedInOf = (row: SessionRow): SignInSession => ({
  ...row,
  organizations: parseOrganizations(row.organizations),
});

export interface VerifyOptions {
  readonly db: Database;
  /** What cookies are signed with. */
  readonly secret: string;
  readonly now: number;
  /** False for a session out of memory that will not do, such as one without the organization it is needed for. */
  suffices(session: SignInSession): boolean;
}

/** Whom the cookie's session belongs to; null when it is not ours, or has ended. A forged one costs no look-up. */
export async function verifySignIn(
  cookie: string,
  { db, secret, now, suffices }: VerifyOptions,
): Promise<SignInSession | null> {
  const token = tokenIn(cookie, secret);
  if (token === null) return null;
  const hash = tokenHashOf(token);
  const known = remembered.get(hash);
  if (known !== undefined && known.until > now && known.expiresAt > now && suffices(known)) return known;
  remembered.delete(hash);
  const [[row]] = await db.run([selectSession(hash)]);
  if (row === undefined || row.expiresAt <= now) return null;
  const session = signedInOf(row);
  remember(session, now);
  return session;
}
