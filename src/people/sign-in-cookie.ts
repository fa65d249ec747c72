/** The session cookie: what it is called, how long it lives, and the token in one that we have signed. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Browsers take a name that begins so only over a secure connection, for this very host and all of its paths. */
export const COOKIE_NAME = "__Host-atrium_session";

/** A session that is not used for so long has ended. */
export const SIGN_IN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

/** How old a session's end may become before using it moves it. */
export const SIGN_IN_RENEWAL_MS = 24 * 60 * 60 * 1000;

/** Signs sessions' cookies. A new JWT_SECRET therefore ends all sessions. */
export const cookieSecretOf = (jwtSecret: string): string =>
  createHmac("sha256", jwtSecret).update("session cookies").digest("base64url");

/** The cookie's raw value; null when the request has none. */
export function signInCookieOf(request: Request): string | null {
  for (const pair of request.headers.get("Cookie")?.split(";") ?? []) {
    const [name = "", ...value] = pair.split("=");
    if (name.trim() === COOKIE_NAME) return value.join("=").trim();
  }
  return null;
}

/** The token in `token.signature`, percent-encoded, as better-auth signs it; null when we did not sign it. */
export function tokenIn(cookie: string, secret: string): string | null {
  const [, token, signature] = /^([^.]+)\.([^.]+)$/.exec(decode(cookie)) ?? [];
  if (token === undefined || signature === undefined) return null;
  const given = Buffer.from(signature, "base64");
  const expected = createHmac("sha256", secret).update(token).digest();
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected) ? token : null;
}

/** The hash under which a session's token is stored. */
export const tokenHashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

function decode(cookie: string): string {
  try {
    return decodeURIComponent(cookie);
  } catch {
    return "";
  }
}
