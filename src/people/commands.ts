/** Signing up, in and out, and what people change about themselves. */

import { membershipError, newOrganization, planInvitedMembership } from "../members/commands.ts";
import { type Database, type Statement, violatedConstraint } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./person-context.ts";
import type { Me, OwnOrganization, PasswordChange, Person, PersonUpdate, SignIn, SignUp } from "./schema.ts";
import {
  COOKIE_NAME,
  SIGN_IN_LIFETIME_MS,
  SIGN_IN_RENEWAL_MS,
  tokenHashOf,
  tokenIn,
} from "./sign-in-cookie.ts";
import { deleteExpiredSessions, deleteSession, selectOrganizations, updatePerson } from "./store.ts";
import { evictPerson, evictSignIn, parseOrganizations } from "./verify-sign-in.ts";

type NoData = Record<string, never>;

/** The library takes some milliseconds to load, which only those pay who need it. */
async function openAuth(visit: DashboardContext, newPersonId = visit.newId()) {
  const { openAuth: open } = await import("./auth/open-auth.ts");
  return open({ db: visit.db, origin: visit.origin, secret: visit.cookieSecret, newPersonId });
}

/** The session cookie among what the library sets. */
const cookieAmong = (headers: Headers): string | undefined =>
  headers.getSetCookie().find((cookie) => cookie.startsWith(`${COOKIE_NAME}=`));

/** Runs what the library wants written, and what of ours belongs to it. */
async function commit(visit: DashboardContext, [first, ...others]: readonly Statement[]): Promise<void> {
  if (first !== undefined) await visit.db.run([first, ...others]);
}

/** The library's own word for what it refused; undefined for other errors. */
function refusalIn(error: unknown): string | undefined {
  const body: unknown = error instanceof Error && "body" in error ? error.body : null;
  const code: unknown = body !== null && typeof body === "object" && "code" in body ? body.code : null;
  return typeof code === "string" ? code : undefined;
}

/** Ends the session that the browser has had until now: signing in again leaves none behind. */
function endSession({ cookie, cookieSecret }: DashboardContext): Statement[] {
  const token = cookie === null ? null : tokenIn(cookie, cookieSecret);
  if (token === null) return [];
  evictSignIn(tokenHashOf(token));
  return [deleteSession(tokenHashOf(token))];
}

const emailTaken = () =>
  new AppError("Auth", "CONFLICT", "Nobody new can sign up with this e-mail address; sign in if it is yours");

/**
 * Makes a person with its first session, and its organization unless it comes by invitation: all of it or
 * nothing. CONFLICT for an address that is taken: no mail is sent that could say so instead.
 */
export async function signUp(visit: DashboardContext, input: SignUp): Promise<DashboardResult<Me>> {
  const { name, email, password, invitation } = input;
  await visit.countPasswordTry(email);
  const [personId, now] = [visit.newId(), visit.now()];
  const { organization, statements } =
    invitation === undefined
      ? newOrganization(personId, {
          id: visit.newId(),
          name: input.organization ?? name,
          createdAt: now,
        })
      : await planInvitedMembership(visit.db, invitation, personId, now);
  const { api, writes } = await openAuth(visit, personId);
  try {
    const { headers } = await api.signUpEmail({ body: { name, email, password }, returnHeaders: true });
    await commit(visit, [...writes, ...endSession(visit), ...statements]);
    const me = { person: { id: personId, name, email }, organizations: [organization] };
    return { data: me, cookie: cookieAmong(headers) };
  } catch (error) {
    const isTaken =
      refusalIn(error) === "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL" ||
      violatedConstraint(error) === "unique:people.email";
    throw isTaken ? emailTaken() : membershipError(error);
  }
}

/** Begins a session. UNAUTHORIZED alike, and after the same work, for a wrong password and for nobody's address. */
export async function signIn(
  visit: DashboardContext,
  { email, password }: SignIn,
): Promise<DashboardResult<Me>> {
  await visit.countPasswordTry(email);
  const { api, writes } = await openAuth(visit);
  try {
    const { headers, response } = await api.signInEmail({ body: { email, password }, returnHeaders: true });
    const { id, name } = response.user;
    const [[[row]]] = await Promise.all([
      visit.db.run([selectOrganizations(id)]),
      commit(visit, [...writes, ...endSession(visit)]),
    ]);
    const organizations = parseOrganizations(row?.organizations ?? "[]");
    return { data: { person: { id, name, email }, organizations }, cookie: cookieAmong(headers) };
  } catch (error) {
    if (refusalIn(error) !== "INVALID_EMAIL_OR_PASSWORD") throw error;
    throw new AppError("Auth", "UNAUTHORIZED", "The e-mail address or the password is wrong");
  }
}

/** Ends the session, if there is one, and has the browser forget its cookie. */
export async function signOut(visit: DashboardContext): Promise<DashboardResult<NoData>> {
  await commit(visit, endSession(visit));
  return { data: {}, cookie: `${COOKIE_NAME}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict` };
}

const meOf = ({ person: { personId: id, name, email, organizations } }: PersonContext): Me => ({
  person: { id, name, email },
  organizations: [...organizations],
});

/** Who is signed in. Whoever comes back before the session ends, if only once in thirty days, stays signed in. */
export async function getMe(visit: PersonContext): Promise<DashboardResult<Me>> {
  const isYoung = visit.person.expiresAt - visit.now() > SIGN_IN_LIFETIME_MS - SIGN_IN_RENEWAL_MS;
  if (isYoung || visit.cookie === null) return { data: meOf(visit) };
  const { api, writes } = await openAuth(visit);
  const { headers } = await api.getSession({ headers: headersWith(visit.cookie), returnHeaders: true });
  await commit(visit, writes);
  evictSignIn(visit.person.tokenHash);
  return { data: meOf(visit), cookie: cookieAmong(headers) };
}

const headersWith = (cookie: string): Headers => new Headers({ Cookie: `${COOKIE_NAME}=${cookie}` });

/** Changes what others see of a person. */
export async function updateMe(
  visit: PersonContext,
  { name }: PersonUpdate,
): Promise<DashboardResult<{ person: Person }>> {
  const { personId: id, email } = visit.person;
  await visit.db.run([updatePerson(id, name, visit.now())]);
  return { data: { person: { id, name, email } } };
}

/**
 * Changes the password, ends all sessions and begins a new one for this browser, all of it or nothing.
 * VALIDATION_ERROR when the current one is wrong.
 */
export async function changePassword(
  visit: PersonContext,
  input: PasswordChange,
): Promise<DashboardResult<NoData>> {
  const { personId } = visit.person;
  await visit.countPasswordTry(personId);
  const { api, writes } = await openAuth(visit);
  try {
    const { headers } = await api.changePassword({
      body: { currentPassword: input.current, newPassword: input.next, revokeOtherSessions: true },
      headers: headersWith(visit.cookie ?? ""),
      returnHeaders: true,
    });
    await commit(visit, writes);
    evictPerson(personId);
    return { data: {}, cookie: cookieAmong(headers) };
  } catch (error) {
    if (refusalIn(error) !== "INVALID_PASSWORD") throw error;
    throw new AppError("Auth", "VALIDATION_ERROR", "current: is not your password");
  }
}

/** Makes another organization, with the person as its first owner. */
export async function createOrganization(
  visit: PersonContext,
  { name }: { readonly name: string },
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  const { organization, statements } = newOrganization(visit.person.personId, {
    id: visit.newId(),
    name,
    createdAt: visit.now(),
  });
  await visit.db.run(statements);
  return { data: { organization } };
}

/** Joins an organization by an invitation's link. CONFLICT for one who belongs to it already. */
export async function acceptInvitation(
  visit: PersonContext,
  token: string,
): Promise<DashboardResult<{ organization: OwnOrganization }>> {
  const { organization, statements } = await planInvitedMembership(
    visit.db,
    token,
    visit.person.personId,
    visit.now(),
  );
  try {
    await visit.db.run(statements);
  } catch (error) {
    throw membershipError(error);
  }
  evictPerson(visit.person.personId);
  return { data: { organization } };
}

/** Forgets sessions that have ended by themselves. */
export const deleteExpiredSignIns = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteExpiredSessions(now)]);
