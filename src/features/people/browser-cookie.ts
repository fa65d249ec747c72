/**
 * The cookie by which a browser is known to have signed a person in: strangers who guess that person's password do not
 * slow it down. It signs no one in, and outlives the sign-in session.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { parse, serialize } from "hono/utils/cookie";

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
    ...{ path: "/", httpOnly: true, secure: true, sameSite: "Strict", maxAge: MAX_AGE_SECONDS },
  });
}
