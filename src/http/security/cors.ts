/** Which pages may read responses: those of any origin, or this service's own. */

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
