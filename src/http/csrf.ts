/** Browsers send the session cookie along with whatever page asks; this is how we know that it was one of ours. */
import { AppError } from "../platform/errors.ts";

const SAFE_METHODS: readonly string[] = ["GET", "HEAD"];

/**
 * FORBIDDEN when the request would change something and does not say that one of our own pages sends it. A page of
 * another origin can neither leave `Origin` out nor make it up, and what reads only is kept from it by the browser.
 */
export function requireSameOrigin(request: Request): void {
  if (SAFE_METHODS.includes(request.method)) return;
  const site = request.headers.get("Sec-Fetch-Site");
  const isOwn =
    request.headers.get("Origin") === new URL(request.url).origin &&
    (site === null || site === "same-origin");
  if (isOwn) return;
  throw new AppError(
    "Auth",
    "FORBIDDEN",
    "With a session cookie, changes are taken from this service's own pages only; use an API key",
  );
}
