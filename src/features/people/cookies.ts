/**
 * The dashboard's cookies. One signs a person in; another only shows that a person has signed in with this browser
 * before, so that strangers who guess the password do not slow it down; the third keeps what a sign-in by a provider
 * needs when the browser is back.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { parse, parseSigned, serialize, serializeSigned } from "hono/utils/cookie";
import { SESSION_COOKIE } from "../../http/security.ts";

/** A sign-in session that is not used for this long ends. */
export const SIGN_IN_LIFETIME_MS = 30 * DAY_MS;

const BROWSER_COOKIE = "__Host-atrium_browser";
const BROWSER_MAX_AGE_SECONDS = 180 * 24 * 60 * 60;
const ATTRIBUTES = { path: "/", httpOnly: true, secure: true, sameSite: "Strict" } as const;
/** The bytes of a token, and of a browser's ID. */
const RANDOM_BYTES = 16;

const newSecret = (): string => randomBytes(RANDOM_BYTES).toString("hex");

const cookieOf = (request: Request, name: string): string | null =>
  parse(request.headers.get("Cookie") ?? "", name)[name] ?? null;

/** The secret that signs the cookies. A new JWT_SECRET therefore ends all sign-in sessions. */
export const cookieSecretOf = (jwtSecret: string): string =>
  createHmac("sha256", jwtSecret).update("session cookies").digest("base64url");

/** A new token of 128 random bits. Only the cookie holds it; the database holds its hash. */
export const createSignInToken = newSecret;

/** The hash under which a sign-in session is stored: SHA-256 in hexadecimal. */
export const tokenHashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** The cookie's value, `token.signature`; null when the request has none. */
export const signInCookieOf = (request: Request): string | null => cookieOf(request, SESSION_COOKIE);

/** The token in a cookie's value; null when this service did not sign it. */
export async function tokenIn(cookie: string, secret: string): Promise<string | null> {
  const signed = await parseSigned(`${SESSION_COOKIE}=${cookie}`, secret, SESSION_COOKIE);
  return signed[SESSION_COOKIE] || null;
}

/** `Set-Cookie` that signs the browser in. */
export const signedCookie = (token: string, secret: string): Promise<string> =>
  serializeSigned(SESSION_COOKIE, token, secret, { ...ATTRIBUTES, maxAge: SIGN_IN_LIFETIME_MS / 1000 });

/** `Set-Cookie` that makes the browser delete its cookie. */
export const expiredCookie = (): string => serialize(SESSION_COOKIE, "", { ...ATTRIBUTES, maxAge: 0 });

/** The value of the browser's cookie; null when the request has none. */
export const browserCookieOf = (request: Request): string | null => cookieOf(request, BROWSER_COOKIE);

const OIDC_COOKIE = "__Host-atrium_oidc";

/** A sign-in by a provider takes at most this long. */
export const OIDC_LIFETIME_MS = 10 * MINUTE_MS;

/** The sealed text of a sign-in by a provider that has begun; null when the request has none. */
export const oidcCookieOf = (request: Request): string | null => cookieOf(request, OIDC_COOKIE);

/** `Set-Cookie` with such a text. */
export const createOidcCookie = (sealed: string): string =>
  serialize(OIDC_COOKIE, sealed, { ...ATTRIBUTES, maxAge: OIDC_LIFETIME_MS / 1000 });

/** `Set-Cookie` that deletes it. */
export const expiredOidcCookie = (): string => serialize(OIDC_COOKIE, "", { ...ATTRIBUTES, maxAge: 0 });

const sign = (id: string, email: string, secret: string): string =>
  createHmac("sha256", secret).update(`browser ${id} of ${email}`).digest("base64url");

/** The ID of a browser that this person signed in with; null for any other one. */
export function knownBrowserOf(cookie: string | null, email: string, secret: string): string | null {
  const [id = "", signature = ""] = (cookie ?? "").split(".");
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(id, email, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null;
}

/** `Set-Cookie` that makes the browser known for this person, under the ID that it has or a new one. */
export function createBrowserCookie(known: string | null, email: string, secret: string): string {
  const id = known ?? newSecret();
  const attributes = { ...ATTRIBUTES, maxAge: BROWSER_MAX_AGE_SECONDS };
  return serialize(BROWSER_COOKIE, `${id}.${sign(id, email, secret)}`, attributes);
}
