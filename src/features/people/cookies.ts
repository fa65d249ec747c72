/** The dashboard's sign-in cookie: its name, its lifetime, and the signed token in it. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { parse, parseSigned, serialize, serializeSigned } from "hono/utils/cookie";
import { SESSION_COOKIE } from "../../http/security.ts";
import { DAY_MS } from "../../platform/time.ts";

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

const COOKIE_NAME = "__Host-atrium_browser";
const MAX_AGE_SECONDS = 180 * 24 * 60 * 60;
const ID_BYTES = 16;

/** The cookie's value; null when the request has none. */
export const browserCookieOf = (request: Request): string | null =>
  parse(request.headers.get("Cookie") ?? "", COOKIE_NAME)[COOKIE_NAME] ?? null;

const sign = (id: string, email: string, secret: string): string =>
  createHmac("sha256", secret).update(`browser ${id} of ${email}`).digest("base64url");

/** The ID of a browser that this person signed in with; null for any other one. */
export function knownBrowserOf(cookie: string | null, email: string, secret: string): string | null {
  const [id = "", signature = ""] = (cookie ?? "").split(".");
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(id, email, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null;
}

/** `Set-Cookie` that makes the browser known for this person, under the ID that it has or a new one. */
export function createBrowserCookie(id: string | null, email: string, secret: string): string {
  const known = id ?? randomBytes(ID_BYTES).toString("hex");
  return serialize(COOKIE_NAME, `${known}.${sign(known, email, secret)}`, {
    ...ATTRIBUTES,
    maxAge: MAX_AGE_SECONDS,
  });
}
