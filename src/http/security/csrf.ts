/** Protects requests that the dashboard's cookie authenticates against cross-site request forgery. */
import { AppError } from "../../platform/errors.ts";

/** The dashboard's session. Browsers accept a `__Host-` cookie only over a secure connection, for this exact host and all paths. */
export const SESSION_COOKIE = "__Host-atrium_session";

const SAFE_METHODS: readonly string[] = ["GET", "HEAD"];

/**
 * FORBIDDEN for a request that changes something, unless `Origin` names this service (see `originOf`). Pages of other
 * origins can neither omit nor forge it. For why this is not Hono's csrf(), see docs/decisions/0013.
 */
export function requireSameOrigin(request: Request, ownOrigin: string): void {
  if (SAFE_METHODS.includes(request.method)) return;
  const site = request.headers.get("Sec-Fetch-Site");
  const isOwn = request.headers.get("Origin") === ownOrigin && (site === null || site === "same-origin");
  if (isOwn) return;
  throw new AppError(
    "Auth",
    "FORBIDDEN",
    `With a session cookie, only the service's own pages at ${ownOrigin} can make changes; use an API key instead`,
  );
}
