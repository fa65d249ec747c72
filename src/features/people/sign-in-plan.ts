/** Plans the statements and cookies that begin and end a sign-in session of a browser, and those of a new person. */
import { type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import type { DashboardContext } from "./context.ts";
import {
  createBrowserCookie,
  createSignInToken,
  knownBrowserOf,
  SIGN_IN_LIFETIME_MS,
  signedCookie,
  tokenHashOf,
  tokenIn,
} from "./cookies.ts";
import { hashPassword } from "./password.ts";
import type { Person, SignUp } from "./schema.ts";
import { evictSignIn } from "./sessions.ts";
import { deleteSignIn, insertPassword, insertPerson, insertSignIn } from "./store.ts";

/** Ends the browser's present sign-in session, if it has one: signing in again leaves none behind. */
export async function planSignOut({ cookie, cookieSecret }: DashboardContext): Promise<Statement[]> {
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

/** Plans a person and their first sign-in session. Pass the error of their batch through {@link signUpError}. */
export async function planSignUp(ctx: DashboardContext, person: Person, { password }: SignUp) {
  const now = ctx.now();
  const hash = await hashPassword(password);
  const { cookies, statements } = await planSignIn(ctx, person, hash);
  const inserts = [insertPerson(person, now), insertPassword(ctx.newId(), person.id, hash, now)] as const;
  return { statements: [...inserts, ...statements] as const, cookies };
}

/** Translates the error of a batch that creates a person: CONFLICT for a taken address; other errors unchanged. */
export const signUpError = (error: unknown): unknown =>
  violatedConstraint(error) === "unique:people.email"
    ? new AppError("Auth", "CONFLICT", "This email address is taken; sign in if it is yours")
    : error;
