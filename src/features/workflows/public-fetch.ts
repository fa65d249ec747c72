/** `fetch` for runs: reaches public targets only, and checks every redirect again. */
import { AppError } from "../../platform/errors.ts";
import { findTargetProblem, type TargetPolicy } from "../../platform/network.ts";
import type { FetchedResponse } from "../../sandbox/runners/runner.ts";

/** How redirects are treated, as `RequestInit` defines it. */
type RedirectMode = "follow" | "manual" | "error";

interface WebPorts {
  readonly fetch: typeof fetch;
  readonly policy: TargetPolicy;
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
}

/** Bodies are kept in memory, because a redirect may require sending them again. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

const MAX_REDIRECTS = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Dropped together with the body they describe. */
const BODY_HEADERS = [
  "Content-Encoding",
  "Content-Language",
  "Content-Length",
  "Content-Location",
  "Content-Type",
];
/** Meant for one origin only. */
const SECRET_HEADERS = ["Authorization", "Cookie", "Proxy-Authorization"];

const refusal = (why: string) => new AppError("Workflows", "BAD_REQUEST", why);

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | null;
}

/** Sends the request with `mode` as its `redirect`. Rejects with a BAD_REQUEST for the program's author. */
export async function fetchPublic(
  request: Request,
  mode: RedirectMode,
  ports: WebPorts,
): Promise<FetchedResponse> {
  let hop: Hop = {
    url: withoutFragment(request.url),
    method: request.method,
    headers: new Headers(request.headers),
    body: await bodyOf(request),
  };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const problem = findTargetProblem(hop.url, ports.policy);
    if (problem !== null) throw refusal(`The URL ${problem}`);
    const { url, ...init } = hop;
    const response = await ports
      .fetch(url, { ...init, redirect: "manual", signal: ports.signal })
      .catch(() => {
        throw refusal("The connection to the server failed or was lost");
      });
    const location = REDIRECTS.has(response.status) ? response.headers.get("Location") : null;
    if (mode === "manual" || location === null) return { response, url, redirected: redirects > 0 };
    await response.body?.cancel();
    if (mode === "error") throw refusal("The server answered with a redirect");
    hop = redirected(hop, response.status, location);
  }
  throw refusal(`The request was redirected more than ${MAX_REDIRECTS} times`);
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, "");

async function bodyOf(request: Request): Promise<ArrayBuffer | null> {
  if (request.body === null) return null;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_REQUEST_BYTES) {
      throw refusal(`The request body may have at most ${MAX_REQUEST_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

/** The next request after a redirect (Fetch standard, HTTP-redirect fetch). */
function redirected(hop: Hop, status: number, location: string): Hop {
  const next = URL.parse(location, hop.url);
  if (next === null) throw refusal("The server answered with a redirect to an invalid URL");
  const headers = new Headers(hop.headers);
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  for (const name of becomesGet ? BODY_HEADERS : []) headers.delete(name);
  for (const name of next.origin === new URL(hop.url).origin ? [] : SECRET_HEADERS) headers.delete(name);
  const request = becomesGet ? { method: "GET", body: null } : { method: hop.method, body: hop.body };
  return { ...request, headers, url: withoutFragment(next.href) };
}
