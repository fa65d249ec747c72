/** `fetch` for a run: to public addresses alone, each hop of a redirect checked anew. */
import { AppError } from "../platform/errors.ts";
import { findTargetProblem, type TargetPolicy } from "../webhooks/target.ts";

/** What becomes of a redirect, as `RequestInit` names it. */
export type RedirectMode = "follow" | "manual" | "error";

export interface WebPorts {
  readonly fetch: typeof fetch;
  readonly policy: TargetPolicy;
  /** Ends whatever is still under way. */
  readonly signal: AbortSignal;
}

/** A body is held while redirects are followed, which may ask for it again. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

const MAX_REDIRECTS = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** They describe a body, and go with it. */
const BODY_HEADERS = [
  "Content-Encoding",
  "Content-Language",
  "Content-Length",
  "Content-Location",
  "Content-Type",
];
/** They are meant for one origin. */
const SECRET_HEADERS = ["Authorization", "Cookie", "Proxy-Authorization"];

const refusal = (why: string) => new AppError("Workflows", "BAD_REQUEST", why);

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | null;
}

/** An answer, and what it loses on its way to a program. */
export interface Fetched {
  readonly response: Response;
  /** Where it came from in the end. */
  readonly url: string;
  readonly redirected: boolean;
}

/** Sends the request; its `redirect` is `mode`. Rejects with words for whoever wrote the program. */
export async function fetchPublic(request: Request, mode: RedirectMode, ports: WebPorts): Promise<Fetched> {
  let hop: Hop = {
    url: withoutFragment(request.url),
    method: request.method,
    headers: new Headers(request.headers),
    body: await bodyOf(request),
  };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const problem = findTargetProblem(hop.url, ports.policy);
    if (problem !== null) throw refusal(`The address ${problem}`);
    const { url, ...init } = hop;
    const response = await ports
      .fetch(url, { ...init, redirect: "manual", signal: ports.signal })
      .catch(() => {
        throw refusal("No connection to the receiver could be made, or it was lost");
      });
    const location = REDIRECTS.has(response.status) ? response.headers.get("Location") : null;
    if (mode === "manual" || location === null) return { response, url, redirected: redirects > 0 };
    await response.body?.cancel();
    if (mode === "error") throw refusal("The receiver answered with a redirect");
    hop = redirected(hop, response.status, location);
  }
  throw refusal(`There were more than ${MAX_REDIRECTS} redirects`);
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, "");

async function bodyOf(request: Request): Promise<ArrayBuffer | null> {
  if (request.body === null) return null;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_REQUEST_BYTES) {
      throw refusal(`The body of a request may have at most ${MAX_REQUEST_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

/** What follows a redirect (Fetch standard, HTTP-redirect fetch). */
function redirected(hop: Hop, status: number, location: string): Hop {
  const next = URL.parse(location, hop.url);
  if (next === null) throw refusal("The receiver answered with a redirect to nowhere");
  const headers = new Headers(hop.headers);
  const asksAnew = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  for (const name of asksAnew ? BODY_HEADERS : []) headers.delete(name);
  for (const name of next.origin === new URL(hop.url).origin ? [] : SECRET_HEADERS) headers.delete(name);
  const request = asksAnew ? { method: "GET", body: null } : { method: hop.method, body: hop.body };
  return { ...request, headers, url: withoutFragment(next.href) };
}
