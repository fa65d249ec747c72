/** The dashboard's page and its files. What it asks of the service, it asks at the doors and at the API. */
import type { Env } from "../config.ts";
import { failure, withoutCors } from "../http/envelope.ts";
import { type PageNeeds, withPageHeaders } from "../http/security-headers.ts";
import { AppError } from "../platform/errors.ts";

/** Previews of what users have uploaded, and of what they are about to. */
const NEEDS: PageNeeds = { "img-src": "'self' blob: data:", "media-src": "'self' blob:" };

/** Their names change with what is in them. */
const FILES = "/dashboard/assets/";
const FILES_KEPT_SECONDS = 365 * 24 * 60 * 60;

/** One page for every address that is no file's: which of its views that is, the page knows itself. */
export async function dashboardPage(request: Request, env: Pick<Env, "ASSETS">): Promise<Response> {
  const url = new URL(request.url);
  const isFile = url.pathname.startsWith(FILES);
  const asset = await env.ASSETS.fetch(
    isFile
      ? request
      : new Request(new URL("/dashboard/", url), { method: request.method, headers: request.headers }),
  );
  if (asset.status === 404) {
    const refusal = new AppError("Server", "NOT_FOUND", "The dashboard has no such file");
    return withoutCors(failure(refusal, crypto.randomUUID()));
  }
  const page = withPageHeaders(asset, url, NEEDS);
  page.headers.set("Cache-Control", isFile ? `public, max-age=${FILES_KEPT_SECONDS}, immutable` : "no-cache");
  return page;
}
