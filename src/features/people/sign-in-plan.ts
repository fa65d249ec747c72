/** Plans the statements and cookies that begin and end a sign-in session of a browser. */
import type { Statement } from "../../platform/d1/d1.ts";
import { createBrowserCookie, knownBrowserOf } from "./browser-cookie.ts";
import type { DashboardContext } from "./person-context.ts";
import type { Person } from "./schema.ts";
import {
  createSignInToken,
  SIGN_IN_LIFETIME_MS,
  signedCookie,
  tokenHashOf,
  tokenIn,
} from "./sign-in-cookie.ts";
import { deleteSignIn, insertSignIn } from "./store.ts";
import { evictSignIn } from "./verify-cookie.ts";

export type PersonKey = Pick<Person, "id" | "email">;

/** Ends the browser's present sign-in session, if it has one: signing in again leaves none behind. */
export async function planSignOut({ cookie, cookieSecret }: DashboardContext): Promise<Statement[]> {
  const token = cookie === null ? null : await tokenIn(cookie, cookieSecret);
  if (token === null) return [];
  evictSignIn(tokenHashOf(token));
  return [deleteSignIn(tokenHashOf(token))];
}

/**
 * Begins a sign-in session in place of the browser's present one, if `verified` is still the hash of the person's
 * password: the first statement then returns a row.
 */
export async function planSignIn(
  ctx: DashboardContext,
  { id: personId, email }: PersonKey,
  verified: string,
) {
  const [token, now] = [createSignInToken(), ctx.now()];
  const insert = insertSignIn(
    {
      id: ctx.newId(),
      tokenHash: tokenHashOf(token),
      personId,
      expiresAt: now + SIGN_IN_LIFETIME_MS,
      createdAt: now,
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
