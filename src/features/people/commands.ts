/** The commands of people: signing in and out, and changes of their name. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Me, Person, PersonUpdate, SignIn } from "@atrium/contract/rest/people.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./context.ts";
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
  selectPersonByEmail,
  updatePerson,
  updateSignIn,
} from "./store.ts";

/** Signs a person in. A wrong password and an unknown address take the same work and get the same UNAUTHORIZED. */
export async function signIn(
  ctx: DashboardContext,
  { email, password, challenge }: SignIn,
): Promise<DashboardResult<Me>> {
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const guess = await ctx.limits.countPassword(email, browser);
  await ctx.challenge().requirePassed(challenge);
  const [[row]] = await ctx.db.run([selectPersonByEmail(email)]);
  const stored = row?.password ?? null;
  const isRight = await guess.verify(password, stored);
  if (row === undefined || stored === null || !isRight) throw wrongPassword();
  const { personId: id, name, organizations } = row;
  const { cookies, statements } = await planSignIn(ctx, { id, email }, stored);
  const [begun] = await ctx.db.run(statements);
  if (begun.length === 0) throw wrongPassword();
  return { data: { person: { id, name, email }, organizations: parseOrganizations(organizations) }, cookies };
}

const wrongPassword = () =>
  new AppError("Auth", "UNAUTHORIZED", "The email address or the password is wrong");

/** Ends the browser's sign-in session, if it has one, and deletes its cookie. */
export async function signOut(ctx: DashboardContext) {
  const [end] = await planSignOut(ctx);
  if (end !== undefined) await ctx.db.run([end]);
  return { data: {}, cookies: [expiredCookie()] };
}

/** Using a sign-in session extends it at most this often. */
const SIGN_IN_RENEWAL_MS = DAY_MS;

/** The signed-in person. At most once a day this extends the sign-in session and its cookie. */
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

/** The signed-in person, or null: pages ask before they know whether anyone is, which is no error. */
export async function findMe(ctx: DashboardContext) {
  const { cookie, cookieSecret, db, now } = ctx;
  const hash = cookie === null ? null : await signedHashOf(cookie, cookieSecret);
  const person = hash === null ? null : await readSignIn(db, hash, now());
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

/** Replaces the browser's sign-in session; the first statement returns a row if the password still has the hash `verified`. */
export async function planSignIn(
  ctx: DashboardContext,
  { id: personId, email }: Pick<Person, "id" | "email">,
  verified: string,
) {
  const [token, now] = [createSignInToken(), ctx.now()];
  const session = {
    id: ctx.newId(),
    tokenHash: tokenHashOf(token),
    personId,
    expiresAt: now + SIGN_IN_LIFETIME_MS,
    createdAt: now,
  };
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  return {
    cookies: [
      await signedCookie(token, ctx.cookieSecret),
      createBrowserCookie(browser, email, ctx.cookieSecret),
    ],
    statements: [insertSignIn(session, verified), ...(await planSignOut(ctx))] as const,
  };
}

/**
 * Plans a person with the hash of their password, and their first sign-in session. Pass the error of their batch
 * through {@link signUpError}.
 */
export async function planSignUp(ctx: DashboardContext, person: Person, hash: string) {
  const now = ctx.now();
  const { cookies, statements } = await planSignIn(ctx, person, hash);
  const inserts = [insertPerson(person, now), insertPassword(ctx.newId(), person.id, hash, now)] as const;
  return { statements: [...inserts, ...statements] as const, cookies };
}

/** Translates the error of a batch that creates a person: CONFLICT for a taken address; other errors unchanged. */
export const signUpError = (error: unknown): unknown =>
  violatedConstraint(error) === "unique:people.email"
    ? new AppError("Auth", "CONFLICT", "This email address is taken; sign in if it is yours")
    : error;
