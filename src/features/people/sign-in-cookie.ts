/** The dashboard's sign-in cookie: its name, its lifetime, and the signed token in it. */

import { createHash, createHmac, randomBytes } from "node:crypto";
import { parse, parseSigned, serialize, serializeSigned } from "hono/utils/cookie";
import { SESSION_COOKIE } from "../../http/security/csrf.ts";
import { DAY_MS } from "../../platform/durations.ts";

/** A sign-in session that is not used for this long ends. */
export const SIGN_IN_LIFETIME_MS = 30 * DAY_MS;

/** Using a sign-in session extends it at most this often. */
export const SIGN_IN_RENEWAL_MS = DAY_MS;

const ATTRIBUTES = { path: "/", httpOnly: true, secure: true, sameSite: "Strict" } as const;
const TOKEN_BYTES = 16;

/** The secret that signs the cookies. A new JWT_SECRET therefore ends all sign-in sessions. */
export const cookieSecretOf = (jwtSecret: string): string =>
  createHmac("sha256", jwtSecret).update("session cookies").digest("base64url");

/** A new token of 128 random bits. Only the cookie holds it; the database holds its hash. */
export const createSignInToken = (): string => randomBytes(TOKEN_BYTES).toString("hex");

/** The hash under which a sign-in session is stored: SHA-256 in hexadecimal. */
export const tokenHashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** The cookie's value, `token.signature`; null when the request has none. */
export const signInCookieOf = (request: Request): string | null =>
  parse(request.headers.get("Cookie") ?? "", SESSION_COOKIE)[SESSION_COOKIE] ?? null;

/** The token in a cookie's value; null when this service did not sign it. */
export async function tokenIn(cookie: string, secret: string): Promise<string | null> {
  const { [SESSION_COOKIE]: token } = await parseSigned(
    `${SESSION_COOKIE}=${cookie}`,
    secret,
    SESSION_COOKIE,
  );
  return token || null;
}

/** `Set-Cookie` that signs the browser in. */
export const signedCookie = (token: string, secret: string): Promise<string> =>
  serializeSigned(SESSION_COOKIE, token, secret, { ...ATTRIBUTES, maxAge: SIGN_IN_LIFETIME_MS / 1000 });

/** `Set-Cookie` that makes the browser delete its cookie. */
export const expiredCookie = (): string => serialize(SESSION_COOKIE, "", { ...ATTRIBUTES, maxAge: 0 });
