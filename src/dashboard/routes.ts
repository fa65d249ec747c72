/** Serves the dashboard's page. It calls `/dashboard/api` and the API. */

import type { Env } from "../env.ts";
import { type PageNeeds, SESSION_COOKIE, withPageHeaders } from "../http/security.ts";
import { hasTurnstile } from "../platform/config.ts";
import type { Settings } from "../platform/settings.ts";

/** Sources of previews: uploaded files, and files chosen for upload. */
const NEEDS: PageNeeds = { "img-src": "'self' blob: data:", "media-src": "'self' blob:" };

const CHALLENGES = "https://challenges.cloudflare.com";

/** The same, and for the Turnstile widget where there is one, which is a script that opens a frame. */
const needsOf = (settings: Settings): PageNeeds =>
  hasTurnstile(settings)
    ? { ...NEEDS, "script-src": `'self' ${CHALLENGES}`, "frame-src": CHALLENGES }
    : NEEDS;

/** The overview of an organization, or of the one that the browser opened last. */
const OVERVIEW = /^\/dashboard(\/[0-9a-f-]{36})?\/?$/;

const isSignedIn = (headers: Headers): boolean => (headers.get("Cookie") ?? "").includes(SESSION_COOKIE);

/** Serves one page for every path, which routes by the path itself; for the overview, one that begins to load it. */
export async function dashboardPage(
  { url, method, headers }: Request,
  env: Pick<Env, "ASSETS"> & Settings,
): Promise<Response> {
  const isOverview = isSignedIn(headers) && OVERVIEW.test(new URL(url).pathname);
  const file = new URL(isOverview ? "/dashboard/overview" : "/dashboard/", url);
  const asset = await env.ASSETS.fetch(new Request(file, { method, headers }));
  const page = withPageHeaders(asset, new URL(url), needsOf(env));
  page.headers.set("Cache-Control", "no-cache");
  return page;
}
