/** Which pages may read responses: those of any origin, or this service's own. */

import { timingSafeEqual } from "node:crypto";
import type { Env } from "../env.ts";
import { allowedHosts, clientAddress, publicOrigin } from "../platform/config/hosts.ts";
import type { Settings } from "../platform/config/settings.ts";
import { AppError } from "../platform/errors.ts";
import { CLIENT_ADDRESS_HEADER, hostOf } from "../platform/network.ts";

/** Any origin may read responses, without credentials. For why this is not Hono's cors(), see docs/decisions/0013. */
export const CORS_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, Idempotency-Replayed, WWW-Authenticate",
} as const;

const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers":
    "Authorization, Content-Type, Cache-Control, Idempotency-Key, If-None-Match, If-Range, Range, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id, traceparent, tracestate",
  "Access-Control-Max-Age": "86400",
} as const;

/** The same response, readable by pages of any origin. */
export function withCors(response: Response): Response {
  for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  return response;
}

/** The same response, readable by this service's own pages only. */
export function withoutCors(response: Response): Response {
  for (const name of Object.keys(CORS_HEADERS)) response.headers.delete(name);
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/** The response to a CORS preflight. */
export const preflight = (requestId: string): Response =>
  new Response(null, { status: 204, headers: { ...PREFLIGHT_HEADERS, "X-Request-Id": requestId } });

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

/** `PUBLIC_ORIGIN`; without that setting the origin of the request, which the client's `Host` header decides. */
export const originOf = (request: Request, settings: Settings): string =>
  publicOrigin(settings) ?? new URL(request.url).origin;

/** Sources that a page needs in addition to this service, by directive. */
export type PageNeeds = Readonly<Record<string, string>>;

/** The asset with the headers of a page. For why this is not Hono's secureHeaders(), see docs/decisions/0013. */
export function withPageHeaders(asset: Response, url: URL, needs: PageNeeds = {}): Response {
  const response = new Response(asset.body, asset);
  const { headers } = response;
  headers.set("Content-Security-Policy", policyFor(url, needs));
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "DENY");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/** Names the WebSocket origin, because some browsers do not include it in 'self'. */
const policyFor = ({ protocol, host }: URL, needs: PageNeeds): string => {
  const directives: PageNeeds = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": `'self' ${protocol === "https:" ? "wss" : "ws"}://${host}`,
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    ...needs,
  };
  return Object.entries(directives)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");
};

const ANY_HOST = "*";

/**
 * The request as the Worker may trust it. FORBIDDEN under a name that is not among `ALLOWED_HOSTS`: a page of another
 * site whose name is made to lead to this machine (DNS rebinding) would otherwise be a page of this service.
 */
export function admit(request: Request, env: Env): Request {
  const hosts = allowedHosts(env);
  if (hosts.length > 0 && !hosts.includes(ANY_HOST)) {
    // Both, because what stands before the Worker may have taken the URL from another header.
    const names = [new URL(request.url), URL.parse(`http://${request.headers.get("Host") ?? ""}`)];
    const foreign = names.find((name) => !hosts.includes(hostOf(name)));
    if (foreign !== undefined) {
      throw new AppError(
        "Server",
        "FORBIDDEN",
        `This service is not ${hostOf(foreign) || "reached without a Host header"}; add that name to ALLOWED_HOSTS if it should be`,
      );
    }
  }
  const address = clientAddress(env);
  if (address === undefined) return request;
  const headers = new Headers(request.headers);
  headers.set(CLIENT_ADDRESS_HEADER, address);
  return new Request(request, { headers });
}

const encoder = new TextEncoder();

/** Compares two texts in a time that depends on their length alone. */
export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
