/** The dashboard's sign-in cookie: its name, its lifetime, and the signed token in it. */

import { createHash, createHmac, randomBytes } from "node:crypto";
import { parse, parseSigned, serialize, serializeSigned } from "hono/utils/cookie";
import { DAY_MS } from "../../platform/durations.ts";

/** Browsers accept a `__Host-` cookie only over a secure connection, for this exact host and all of its paths. */
export const COOKIE_NAME = "__Host-atrium_session";

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
  parse(request.headers.get("Cookie") ?? "", COOKIE_NAME)[COOKIE_NAME] ?? null;

/** The token in a cookie's value; null when this service did not sign it. */
export async function tokenIn(cookie: string, secret: string): Promise<string | null> {
  const { [COOKIE_NAME]: token } = await parseSigned(`${COOKIE_NAME}=${cookie}`, secret, COOKIE_NAME);
  return token || null;
}

/** `Set-Cookie` that signs the browser in. */
export const signedCookie = (token: string, secret: string): Promise<string> =>
  serializeSigned(COOKIE_NAME, token, secret, { ...ATTRIBUTES, maxAge: SIGN_IN_LIFETIME_MS / 1000 });

/** `Set-Cookie` that makes the browser delete its cookie. */
export const expiredCookie = (): string => serialize(COOKIE_NAME, "", { ...ATTRIBUTES, maxAge: 0 });
