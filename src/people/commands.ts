/** The commands of people: signing in and out, and changes of their name and password. */
import type { Database, Statement } from "../platform/d1.ts";
import { violatedConstraint } from "../platform/d1-errors.ts";
import { AppError } from "../platform/errors.ts";
import { createBrowserCookie, knownBrowserOf } from "./browser-cookie.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { deletePasswordLinksOf } from "./password-link-store.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./person-context.ts";
import type { Me, PasswordChange, Person, PersonUpdate, SignIn, SignUp } from "./schema.ts";
import {
  createSignInToken,
  expiredCookie,
  SIGN_IN_LIFETIME_MS,
  SIGN_IN_RENEWAL_MS,
  signedCookie,
  tokenHashOf,
  tokenIn,
} from "./sign-in-cookie.ts";
import {
  deleteExpiredSignIns,
  deleteSignIn,
  deleteSignInsOf,
  insertPassword,
  insertPerson,
  insertSignIn,
  replacePassword,
  selectPassword,
  selectPersonByEmail,
  updatePassword,
  updatePerson,
  updateSignIn,
} from "./store.ts";
import { evictPerson, evictSignIn, parseOrganizations, readSignIn, signedHashOf } from "./verify-cookie.ts";

type NoData = Record<string, never>;
type PersonKey = Pick<Person, "id" | "email">;

/** Ends the browser's present sign-in session, if it has one: signing in again leaves none behind. */
async function planSignOut({ cookie, cookieSecret }: DashboardContext): Promise<Statement[]> {
  const token = cookie === null ? null : await tokenIn(cookie, cookieSecret);
  if (token === null) return [];
  evictSignIn(tokenHashOf(token));
  return [deleteSignIn(tokenHashOf(token))];
}

/**
 * Begins a sign-in session in place of the browser's present one, if `verified` is still the hash of the person's
 * password: the first statement then returns a row.
 */
async function planSignIn(ctx: DashboardContext, { id: personId, email }: PersonKey, verified: string) {
  const [token, now] = [createSignInToken(), ctx.now()];
  const insert = insertSignIn(
    {
      id: ctx.newId(),
      tokenHash: tokenHashOf(token),
      personId,
      expiresAt: now + SIGN_IN_LIFETIME_MS,
      createdAt: now,
      updatedAt: now,
    },
    verified,
  );
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  return {
    cookies: [
      await signedCookie(token, ctx.cookieSecret),
      createBrowserCookie(browser, email, ctx.cookieSecret),
    ],
    statements: [insert, ...(await planSignOut(ctx))] as const,
  };
}

/** A person to create and to sign in, with the statements that do both. */
export interface PlannedSignUp {
  readonly person: Person;
  readonly statements: readonly [Statement, ...Statement[]];
  /** The `Set-Cookie` headers of the new sign-in session. */
  readonly cookies: readonly string[];
}

/**
 * Plans a person and their first sign-in session.
 * Pass the error of a batch with the statements through {@link signUpError}.
 */
export async function planSignUp(
  ctx: DashboardContext,
  personId: string,
  { name, email, password }: SignUp,
): Promise<PlannedSignUp> {
  const now = ctx.now();
  const hash = await hashPassword(password);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, hash);
  return {
    person: { id: personId, name, email },
    statements: [
      insertPerson(personId, { name, email }, now),
      insertPassword(ctx.newId(), personId, hash, now),
      ...statements,
    ],
    cookies,
  };
}

/** Translates the error of a batch that creates a person: CONFLICT for a taken address; other errors unchanged. */
export const signUpError = (error: unknown): unknown =>
  violatedConstraint(error) === "unique:people.email"
    ? new AppError("Auth", "CONFLICT", "This email address is taken; sign in if it is yours")
    : error;

/** Signs a person in. A wrong password and an unknown address take the same work and get the same UNAUTHORIZED. */
export async function signIn(
  ctx: DashboardContext,
  { email, password, challenge }: SignIn,
): Promise<DashboardResult<Me>> {
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const turn = await ctx.limits.takeTurn(browser);
  const guess = await ctx.limits.countPassword(email, browser);
  await ctx.challenge().requirePassed(challenge);
  const [[row]] = await ctx.db.run([selectPersonByEmail(email)]);
  const stored = row?.password ?? null;
  const isRight = stored === null ? await wasteWork(password) : await verifyPassword(password, stored);
  if (row === undefined || stored === null || !isRight) throw wrongPassword();
  await turn.forgive();
  const { personId: id, name, organizations } = row;
  const { cookies, statements } = await planSignIn(ctx, { id, email }, stored);
  const [begun] = await ctx.db.run(statements);
  if (begun.length === 0) throw wrongPassword();
  await guess.forgive();
  return { data: { person: { id, name, email }, organizations: parseOrganizations(organizations) }, cookies };
}

const wrongPassword = () =>
  new AppError("Auth", "UNAUTHORIZED", "The email address or the password is wrong");

/** Takes as long as a verification, so that the time of an answer does not reveal whose address is known. */
async function wasteWork(password: string): Promise<false> {
  await hashPassword(password);
  return false;
}

/** Ends the browser's sign-in session, if it has one, and deletes its cookie. */
export async function signOut(ctx: DashboardContext): Promise<DashboardResult<NoData>> {
  const [end] = await planSignOut(ctx);
  if (end !== undefined) await ctx.db.run([end]);
  return { data: {}, cookies: [expiredCookie()] };
}

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
export async function findMe(ctx: DashboardContext): Promise<DashboardResult<{ me: Me | null }>> {
  const { cookie, cookieSecret, db, now } = ctx;
  const hash = cookie === null ? null : await signedHashOf(cookie, cookieSecret);
  const person = hash === null ? null : await readSignIn(db, hash, now());
  if (person === null) return { data: { me: null } };
  const { data, ...rest } = await getMe({ ...ctx, person });
  return { data: { me: data }, ...rest };
}

/** Changes the person's name. */
export async function updateMe(
  ctx: PersonContext,
  { name }: PersonUpdate,
): Promise<DashboardResult<{ person: Person }>> {
  const { personId: id, email } = ctx.person;
  await ctx.db.run([updatePerson(id, name, ctx.now())]);
  return { data: { person: { id, name, email } } };
}

/**
 * Verifies the password of the signed-in person: throws `refusal` for a wrong one, which counts as a guess. Returns its
 * hash, and the guess to forgive.
 */
export async function verifyOwnPassword(ctx: PersonContext, password: string, refusal: AppError) {
  const { personId, email } = ctx.person;
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const turn = await ctx.limits.takeTurn(browser);
  const guess = await ctx.limits.countPassword(email, browser);
  const [[row]] = await ctx.db.run([selectPassword(personId)]);
  const stored = row?.password ?? "";
  if (!(await verifyPassword(password, stored))) throw refusal;
  await turn.forgive();
  return { stored, guess };
}

/**
 * Changes the password, ends all of the person's sign-in sessions and begins a new one in this browser: all or
 * nothing. VALIDATION_ERROR when the current password is wrong.
 */
export async function changePassword(
  ctx: PersonContext,
  { current, next }: PasswordChange,
): Promise<DashboardResult<NoData>> {
  const { personId, email } = ctx.person;
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "current: this is not your password");
  const { stored, guess } = await verifyOwnPassword(ctx, current, refusal);
  const hash = await hashPassword(next);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, hash);
  const [, , begun] = await ctx.db.run([
    updatePassword(personId, stored, hash, ctx.now()),
    deleteSignInsOf(personId, hash),
    ...statements,
    deletePasswordLinksOf(personId),
  ]);
  evictPerson(personId);
  if (begun.length === 0) throw refusal;
  await guess.forgive();
  return { data: {}, cookies };
}

/**
 * Plans a new password in place of a forgotten one, if `condition` selects a row when the statements run. They also end
 * all of the person's sign-in sessions and begin one in this browser: the third returns a row if they did.
 */
export async function planNewPassword(
  ctx: DashboardContext,
  person: PersonKey,
  password: string,
  condition: Statement,
) {
  const hash = await hashPassword(password);
  const { cookies, statements } = await planSignIn(ctx, person, hash);
  const replacement = [
    replacePassword(person.id, hash, condition, ctx.now()),
    deleteSignInsOf(person.id, hash),
    ...statements,
  ] as const;
  return { cookies, statements: replacement };
}

/** Deletes sign-in sessions that have expired. */
export const purgeExpiredSignIns = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteExpiredSignIns(now)]);
