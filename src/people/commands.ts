/** Signing up, in and out, and what people change about themselves. */
import { membershipError, newOrganization, planInvitedMembership } from "../members/commands.ts";
import { type Database, type Statement, violatedConstraint } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./person-context.ts";
import type { Me, OwnOrganization, PasswordChange, Person, PersonUpdate, SignIn, SignUp } from "./schema.ts";
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
  selectPassword,
  selectPersonByEmail,
  updatePassword,
  updatePerson,
  updateSignIn,
} from "./store.ts";
import { evictPerson, evictSignIn, parseOrganizations } from "./verify-sign-in.ts";

type NoData = Record<string, never>;

/** Ends the browser's present sign-in session, if it has one: signing in again leaves none behind. */
async function planSignOut({ cookie, cookieSecret }: DashboardContext): Promise<Statement[]> {
  const token = cookie === null ? null : await tokenIn(cookie, cookieSecret);
  if (token === null) return [];
  evictSignIn(tokenHashOf(token));
  return [deleteSignIn(tokenHashOf(token))];
}

/** Begins a sign-in session in place of the browser's present one. */
async function planSignIn(ctx: DashboardContext, personId: string) {
  const [token, now] = [createSignInToken(), ctx.now()];
  const insert = insertSignIn({
    id: ctx.newId(),
    tokenHash: tokenHashOf(token),
    personId,
    expiresAt: now + SIGN_IN_LIFETIME_MS,
    createdAt: now,
    updatedAt: now,
  });
  return {
    cookie: await signedCookie(token, ctx.cookieSecret),
    statements: [insert, ...(await planSignOut(ctx))] as const,
  };
}

/**
 * Creates a person, signs them in, and creates their organization unless they have an invitation: all or nothing.
 * CONFLICT when the address is taken; the service sends no mail that could say so instead.
 */
export async function signUp(ctx: DashboardContext, input: SignUp): Promise<DashboardResult<Me>> {
  const { name, email, password, invitation } = input;
  await ctx.limitPasswordAttempts(email);
  const [personId, now] = [ctx.newId(), ctx.now()];
  const { organization, statements } =
    invitation === undefined
      ? newOrganization(personId, {
          id: ctx.newId(),
          name: input.organization ?? name,
          createdAt: now,
        })
      : await planInvitedMembership(ctx.db, invitation, personId, now);
  const hash = await hashPassword(password);
  const signIn = await planSignIn(ctx, personId);
  try {
    await ctx.db.run([
      insertPerson(personId, { name, email }, now),
      insertPassword(ctx.newId(), personId, hash, now),
      ...signIn.statements,
      ...statements,
    ]);
  } catch (error) {
    if (violatedConstraint(error) !== "unique:people.email") throw membershipError(error);
    throw new AppError("Auth", "CONFLICT", "This e-mail address is taken; sign in if it is yours");
  }
  return {
    data: { person: { id: personId, name, email }, organizations: [organization] },
    cookie: signIn.cookie,
  };
}

/** Signs a person in. A wrong password and an unknown address take the same work and get the same UNAUTHORIZED. */
export async function signIn(
  ctx: DashboardContext,
  { email, password }: SignIn,
): Promise<DashboardResult<Me>> {
  await ctx.limitPasswordAttempts(email);
  const [[row]] = await ctx.db.run([selectPersonByEmail(email)]);
  const stored = row?.password ?? null;
  const isRight = stored === null ? await wasteWork(password) : await verifyPassword(password, stored);
  if (row === undefined || !isRight) {
    throw new AppError("Auth", "UNAUTHORIZED", "The e-mail address or the password is wrong");
  }
  const { cookie, statements } = await planSignIn(ctx, row.personId);
  await ctx.db.run(statements);
  const { personId: id, name, organizations } = row;
  return { data: { person: { id, name, email }, organizations: parseOrganizations(organizations) }, cookie };
}

/** Takes as long as a verification, so that the time of an answer does not reveal whose address is known. */
async function wasteWork(password: string): Promise<false> {
  await hashPassword(password);
  return false;
}

/** Ends the browser's sign-in session, if it has one, and deletes its cookie. */
export async function signOut(ctx: DashboardContext): Promise<DashboardResult<NoData>> {
  const [end] = await planSignOut(ctx);
  if (end !== undefined) await ctx.db.run([end]);
  return { data: {}, cookie: expiredCookie() };
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
  return { data, cookie: await signedCookie(token, ctx.cookieSecret) };
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
 * Changes the password, ends all of the person's sign-in sessions and begins a new one in this browser: all or
 * nothing. VALIDATION_ERROR when the current password is wrong.
 */
export async function changePassword(
  ctx: PersonContext,
  { current, next }: PasswordChange,
): Promise<DashboardResult<NoData>> {
  const { personId } = ctx.person;
  await ctx.limitPasswordAttempts(personId);
  const [[row]] = await ctx.db.run([selectPassword(personId)]);
  if (!(await verifyPassword(current, row?.password ?? ""))) {
    throw new AppError("Auth", "VALIDATION_ERROR", "current: this is not your password");
  }
  const hash = await hashPassword(next);
  const { cookie, statements } = await planSignIn(ctx, personId);
  await ctx.db.run([updatePassword(personId, hash, ctx.now()), deleteSignInsOf(personId), ...statements]);
  evictPerson(personId);
  return { data: {}, cookie };
}

/** Creates another organization, with the person as its first owner. */
export async function createOrganization(
  ctx: PersonContext,
  { name }: { readonly name: string },
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  const { organization, statements } = newOrganization(ctx.person.personId, {
    id: ctx.newId(),
    name,
    createdAt: ctx.now(),
  });
  await ctx.db.run(statements);
  return { data: { organization } };
}

/** Makes the person a member by an invitation's token. CONFLICT when they are one already. */
export async function acceptInvitation(
  ctx: PersonContext,
  token: string,
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  const { personId } = ctx.person;
  const { organization, statements } = await planInvitedMembership(ctx.db, token, personId, ctx.now());
  try {
    await ctx.db.run(statements);
  } catch (error) {
    throw membershipError(error);
  }
  evictPerson(personId);
  return { data: { organization } };
}

/** Deletes sign-in sessions that have expired. */
export const purgeExpiredSignIns = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteExpiredSignIns(now)]);
