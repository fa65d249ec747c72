/** CORS, page headers and the session's cookie: the origins that may read responses. */

import { timingSafeEqual } from "node:crypto";
import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../env.ts";
import { CLIENT_ADDRESS_HEADER, hostOf } from "../platform/network.ts";
import { readSetting, type Settings } from "../platform/settings.ts";

/** Lets any origin read responses, without credentials. See docs/decisions/0013 for why this is not Hono's cors(). */
export const CORS_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "X-Request-Id, Retry-After, Idempotency-Replayed, WWW-Authenticate, ETag, Location, Stream-Next-Offset, Stream-Up-To-Date, Stream-Closed, Stream-Cursor, Stream-TTL, Stream-Expires-At, Stream-SSE-Data-Encoding, Producer-Epoch, Producer-Seq, Producer-Expected-Seq, Producer-Received-Seq",
} as const;

const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers":
    "Authorization, Content-Type, Cache-Control, Idempotency-Key, If-None-Match, If-Range, Range, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id, traceparent, tracestate, Stream-TTL, Stream-Expires-At, Stream-Closed, Stream-Seq, Stream-Forked-From, Stream-Fork-Offset, Stream-Fork-Sub-Offset, Producer-Id, Producer-Epoch, Producer-Seq",
  "Access-Control-Max-Age": "86400",
} as const;

/** True for the paths of the API, which pages of any origin may call. */
export const isOfApi = (pathname: string): boolean => pathname.startsWith("/v1/");

export function withCors(response: Response): Response {
  for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  return response;
}

export function withoutCors(response: Response): Response {
  for (const name of Object.keys(CORS_HEADERS)) response.headers.delete(name);
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

export const preflight = (requestId: string): Response =>
  new Response(null, { status: 204, headers: { ...PREFLIGHT_HEADERS, "X-Request-Id": requestId } });

/** The dashboard's session. Browsers accept a `__Host-` cookie only over a secure connection, for this exact host and all paths. */
export const SESSION_COOKIE = "__Host-atrium_session";

const SAFE_METHODS: readonly string[] = ["GET", "HEAD"];

/** FORBIDDEN for a change from another origin, which cannot forge `Origin`. See docs/decisions/0013. */
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
  readSetting(settings, "PUBLIC_ORIGIN") ?? new URL(request.url).origin;

export type PageNeeds = Readonly<Record<string, string>>;

const headersWith = (needs: PageNeeds) => ({
  "Content-Security-Policy": policyWith(needs),
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": needs["frame-ancestors"] === "'self'" ? "SAMEORIGIN" : "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** The asset with the headers of a page. See docs/decisions/0013 for why this is not Hono's secureHeaders(). */
export function withPageHeaders(asset: Response, { protocol, host }: URL, needs: PageNeeds = {}): Response {
  const response = new Response(asset.body, asset);
  // Some browsers do not include the origin of WebSockets in 'self'.
  const sockets = { "connect-src": `'self' ${protocol === "https:" ? "wss" : "ws"}://${host}` };
  for (const [name, value] of Object.entries(headersWith({ ...sockets, ...needs })))
    response.headers.set(name, value);
  return response;
}

const policyWith = (needs: PageNeeds): string => {
  const directives: PageNeeds = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    ...needs,
  };
  return Object.entries(directives)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");
};

/** Headers of static files, which the platform adds to them. */
export const FILE_HEADERS: Readonly<Record<string, string>> = headersWith({});

const ANY_HOST = "*";

/** FORBIDDEN under a name outside `ALLOWED_HOSTS`: DNS rebinding would make foreign pages ours. */
export function admit(request: Request, env: Env): Request {
  const hosts = readSetting(env, "ALLOWED_HOSTS");
  if (hosts.length > 0 && !hosts.includes(ANY_HOST)) {
    // Checks both, because a proxy before the Worker may have taken the URL from another header.
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
  const address = readSetting(env, "CLIENT_ADDRESS");
  if (address === undefined) return request;
  const headers = new Headers(request.headers);
  headers.set(CLIENT_ADDRESS_HEADER, address);
  return new Request(request, { headers });
}

const encoder = new TextEncoder();

export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
