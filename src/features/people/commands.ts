/** The commands of people: their password as a proof, sign-in sessions, and changes of their name. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Me, Person, PersonUpdate, SignIn } from "@atrium/contract/rest/people.ts";
import { HOUR_MS } from "@atrium/contract/time.ts";
import { type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { describeBrowser } from "./browser.ts";
import type { DashboardContext, DashboardResult, PersonContext, WaysToSignIn } from "./context.ts";
import {
  createBrowserCookie,
  createSignInToken,
  expiredCookie,
  knownBrowserOf,
  SIGN_IN_LIFETIME_MS,
  signedCookie,
  tokenHashOf,
  tokenIn,
} from "./cookies.ts";
import { evictSignIn, parseOrganizations, readSignIn, signedHashOf } from "./sessions.ts";
import {
  deleteSignIn,
  insertPassword,
  insertPerson,
  insertSignIn,
  type Proof,
  passwordIs,
  selectPersonByEmail,
  updatePerson,
  updateSignIn,
} from "./store.ts";

/** FORBIDDEN where people sign in by the company's provider alone, without passwords and passkeys. */
export function requirePasswords({ hasPasswords, oidc }: WaysToSignIn): void {
  if (hasPasswords) return;
  const provider = oidc()?.name ?? "your company's provider";
  throw new AppError("Auth", "FORBIDDEN", `People sign in to this service with ${provider} alone`);
}

/**
 * Verifies an address and a password, and reads `further` in the same trip. A wrong password and an unknown address take the
 * same work and get the same UNAUTHORIZED.
 */
export async function verifySignIn<Row>(
  ctx: DashboardContext,
  { email, password, challenge }: Omit<SignIn, "code">,
  further: Statement<Row>,
): Promise<{ readonly me: Me; readonly proof: Proof; readonly further: Row | undefined }> {
  requirePasswords(ctx);
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const guess = await ctx.limits.countPassword(email, browser);
  await ctx.challenge().requirePassed(challenge);
  const [[row], [found]] = await ctx.db.run([selectPersonByEmail(email), further]);
  const stored = row?.password ?? null;
  const isRight = await guess.verify(password, stored);
  if (row === undefined || stored === null || !isRight) throw wrongPassword();
  const { personId: id, name, organizations } = row;
  const me = { person: { id, name, email }, organizations: parseOrganizations(organizations) };
  return { me, proof: passwordIs(id, stored), further: found };
}

export const wrongPassword = () =>
  new AppError("Auth", "UNAUTHORIZED", "The email address or the password is wrong");

/** Ends the browser's sign-in session, if it has one, and deletes its cookie. */
export async function signOut(ctx: DashboardContext) {
  const [end] = await planSignOut(ctx);
  if (end !== undefined) await ctx.db.run([end]);
  return { data: {}, cookies: [expiredCookie()] };
}

/** Using a sign-in session extends it, and notes the time, at most this often. */
const SIGN_IN_RENEWAL_MS = HOUR_MS;

/** The signed-in person. At most once an hour this extends the sign-in session and its cookie. */
export async function getMe(ctx: PersonContext): Promise<DashboardResult<Me>> {
  const { personId: id, name, email, organizations, tokenHash, expiresAt } = ctx.person;
  const data = { person: { id, name, email }, organizations: [...organizations] };
  const now = ctx.now();
  const isRecent = expiresAt - now > SIGN_IN_LIFETIME_MS - SIGN_IN_RENEWAL_MS;
  const token = isRecent || ctx.cookie === null ? null : await tokenIn(ctx.cookie, ctx.cookieSecret);
  if (token === null) return { data };
  await ctx.db.run([updateSignIn(tokenHash, now + SIGN_IN_LIFETIME_MS, now)]);
  evictSignIn(tokenHash);
  return { data, cookies: [await signedCookie(token, ctx.cookieSecret)] };
}

/** The sign-in session of the browser; null without one. */
export async function findSession({ cookie, cookieSecret, db, now }: DashboardContext) {
  const hash = cookie === null ? null : await signedHashOf(cookie, cookieSecret);
  return hash === null ? null : readSignIn(db, hash, now());
}

/** The signed-in person, or null: pages ask before they know whether anyone is, which is no error. */
export async function findMe(ctx: DashboardContext) {
  const person = await findSession(ctx);
  if (person === null) return { data: { me: null } };
  const { data, ...rest } = await getMe({ ...ctx, person });
  return { data: { me: data }, ...rest };
}

export async function updateMe(ctx: PersonContext, { name }: PersonUpdate) {
  const { personId: id, email } = ctx.person;
  await ctx.db.run([updatePerson(id, name, ctx.now())]);
  return { data: { person: { id, name, email } } };
}

/** Ends the browser's present sign-in session, if it has one: signing in again leaves none behind. */
async function planSignOut({ cookie, cookieSecret }: DashboardContext): Promise<Statement[]> {
  const token = cookie === null ? null : await tokenIn(cookie, cookieSecret);
  if (token === null) return [];
  evictSignIn(tokenHashOf(token));
  return [deleteSignIn(tokenHashOf(token))];
}

/** Replaces the browser's sign-in session; the first statement returns a row while `proof` holds. */
export async function planSignIn(
  ctx: DashboardContext,
  { id: personId, email }: Pick<Person, "id" | "email">,
  proof: Proof,
) {
  const [token, now] = [createSignInToken(), ctx.now()];
  const session = {
    id: ctx.newId(),
    tokenHash: tokenHashOf(token),
    personId,
    browser: describeBrowser(ctx.userAgent),
    expiresAt: now + SIGN_IN_LIFETIME_MS,
    createdAt: now,
  };
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  return {
    cookies: [
      await signedCookie(token, ctx.cookieSecret),
      createBrowserCookie(browser, email, ctx.cookieSecret),
    ],
    statements: [insertSignIn(session, proof), ...(await planSignOut(ctx))] as const,
  };
}

/** What a new person signs in by: the statement that stores it, and the proof of it. */
interface FirstCredential {
  readonly insert: Statement;
  readonly proof: Proof;
}

/** The hash of a new person's password. */
export const passwordOfNew = (ctx: DashboardContext, { id }: Person, hash: string): FirstCredential => ({
  insert: insertPassword(ctx.newId(), id, hash, ctx.now()),
  proof: passwordIs(id, hash),
});

/**
 * Plans a person with what they sign in by, and their first sign-in session. Pass the error of their batch through
 * {@link signUpError}.
 */
export async function planSignUp(ctx: DashboardContext, person: Person, { insert, proof }: FirstCredential) {
  const { cookies, statements } = await planSignIn(ctx, person, proof);
  return { statements: [insertPerson(person, ctx.now()), insert, ...statements] as const, cookies };
}

/** Translates the error of a batch that creates a person: CONFLICT for a taken address; other errors unchanged. */
export const signUpError = (error: unknown): unknown =>
  violatedConstraint(error) === "unique:people.email"
    ? new AppError("Auth", "CONFLICT", "This email address is taken; sign in if it is yours")
    : error;
