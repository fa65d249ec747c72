/** Serves the front page: what Atrium is, and two windows of one board of the demo. */

import type { Env } from "../env.ts";
import { type PageNeeds, withPageHeaders } from "../http/security.ts";
import { readSetting, type Settings } from "../platform/settings.ts";

/** It frames the demo of this service. */
const NEEDS: PageNeeds = { "frame-src": "'self'" };

/** The static file of the page: with a live board, or where there is no demo, with a picture of one. */
export async function frontPage(
  { url, method, headers }: Request,
  env: Pick<Env, "ASSETS"> & Settings,
): Promise<Response> {
  const name = readSetting(env, "DEMO_ACCOUNT_ID") === undefined ? "still" : "live";
  const asset = await env.ASSETS.fetch(
    new Request(new URL(`/assets/front/${name}`, url), { method, headers }),
  );
  const page = withPageHeaders(asset, new URL(url), NEEDS);
  page.headers.set("Cache-Control", "no-cache");
  page.headers.set("Vary", "Accept");
  return page;
}
