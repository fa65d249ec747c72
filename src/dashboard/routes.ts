/** Serves the dashboard's page and its files. The page calls `/dashboard/api` and the API. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../env.ts";
import { failure } from "../http/envelope.ts";
import { type PageNeeds, withoutCors, withPageHeaders } from "../http/security.ts";
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

/** The names of these files contain a hash of their content. */
const FILES = "/dashboard/assets/";
const FILES_MAX_AGE_SECONDS = 365 * 24 * 60 * 60;

/** Serves one page for every path that is not a file's; the page routes by the path itself. */
export async function dashboardPage(
  request: Request,
  env: Pick<Env, "ASSETS"> & Settings,
): Promise<Response> {
  const url = new URL(request.url);
  const isFile = url.pathname.startsWith(FILES);
  const asset = await env.ASSETS.fetch(
    isFile
      ? request
      : new Request(new URL("/dashboard/", url), { method: request.method, headers: request.headers }),
  );
  if (asset.status === 404) {
    const error = new AppError("Server", "NOT_FOUND", "The dashboard has no file with this name");
    return withoutCors(failure(error, crypto.randomUUID()));
  }
  const page = withPageHeaders(asset, url, needsOf(env));
  page.headers.set(
    "Cache-Control",
    isFile ? `public, max-age=${FILES_MAX_AGE_SECONDS}, immutable` : "no-cache",
  );
  return page;
}
