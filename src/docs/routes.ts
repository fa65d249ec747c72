/** Serves the documentation: the guides, which the build renders, the API reference, the index of the search, and the downloads. */

import { AppError } from "@atrium/contract/errors.ts";
import { readDocument } from "@atrium/contract/openapi/described.ts";
import { archiveOf } from "@atrium/docs/archive.ts";
import { notFoundPage } from "@atrium/docs/not-found.ts";
import { readPage, searchEntries } from "@atrium/docs/reference.ts";
import type { ApiDocument } from "../http/openapi/openapi.ts";
import { originOf, type PageNeeds, withPageHeaders } from "../http/security.ts";
import { readSetting, type Settings } from "../platform/settings.ts";

interface AssetsEnv {
  readonly ASSETS: Pick<Fetcher, "fetch">;
}

interface PackageEnv extends AssetsEnv {
  readonly PACKAGE?: Pick<Fetcher, "fetch">;
}

/** Files at another address. `/docs` is a folder's index, which would be redirected to one with a slash. */
const PLACES: Readonly<Record<string, string>> = { "/docs": "/docs/", "/llms.txt": "/docs/llms.txt" };

const HTML = { "Content-Type": "text/html; charset=utf-8" };

/** A quickstart frames its own page, for which the demo has rooms. */
const QUICKSTART = "/docs/quickstarts/";
const QUICKSTART_NEEDS: PageNeeds = { "frame-src": "'self'" };
const LIVE = "/docs/live/";
/** The hash is that of Tiptap's style sheet, which it puts into the page of the editor. */
const LIVE_NEEDS: PageNeeds = {
  "frame-ancestors": "'self'",
  "style-src": "'self' 'sha256-PlumsSlvJ7vvWzjqibGAYKq92O3y/4JTxWWsWJvyUYA='",
};

/** The file of a page; null when there is none. Without a demo, quickstarts keep their pictures. */
export async function guidePage(request: Request, env: AssetsEnv & Settings): Promise<Response | null> {
  const url = new URL(request.url);
  const place = PLACES[url.pathname];
  const hasDemo = readSetting(env, "DEMO_ACCOUNT_ID") !== undefined;
  const isLive = url.pathname.startsWith(LIVE);
  if (isLive && !hasDemo) return null;
  const isWithoutLive = url.pathname.startsWith(QUICKSTART) && !hasDemo;
  const asked = place === undefined ? request : new Request(new URL(place, url), request);
  const asset = await env.ASSETS.fetch(isWithoutLive ? unconditional(asked) : asked);
  if (asset.status === 404) return null;
  if (isWithoutLive) return withPageHeaders(withoutLive(asset), url);
  const needs = url.pathname.startsWith(QUICKSTART) ? QUICKSTART_NEEDS : isLive ? LIVE_NEEDS : {};
  return withPageHeaders(asset, url, needs);
}

/** A browser that has the page with windows is not told that it is the same without. */
function unconditional(request: Request): Request {
  const copy = new Request(request);
  copy.headers.delete("If-None-Match");
  return copy;
}

/** Takes from a page the address that its script would frame. It is not the page that the ETag stands for. */
function withoutLive(asset: Response): Response {
  if (asset.headers.get("Content-Type")?.startsWith("text/html") !== true) return asset;
  const page = new Response(asset.body, asset);
  page.headers.delete("ETag");
  return new HTMLRewriter()
    .on("[data-live]", { element: (result) => void result.removeAttribute("data-live") })
    .transform(page);
}

/** The page of the API reference at `url`, made from the document; null when there is none. */
export function referencePage(url: URL, document: ApiDocument): Response | null {
  const page = readPage(readDocument(document), url.pathname);
  if (page === null) return null;
  const headers = { ...HTML, "Cache-Control": "public, max-age=300" };
  return withPageHeaders(new Response(page, { headers }), url);
}

/** What a browser shows at an address that the service does not have. */
export const missingPage = (url: URL): Response =>
  withPageHeaders(
    new Response(notFoundPage(), { status: 404, headers: { ...HTML, "Cache-Control": "no-store" } }),
    url,
  );

/** The search index: the pages' headings, and the operations and schemas of the API reference. */
export async function searchIndex(
  request: Request,
  env: AssetsEnv,
  document: ApiDocument,
): Promise<Response> {
  const asset = await env.ASSETS.fetch(request.url); // the answer to HEAD has no body
  const headings: object[] = await asset.json();
  return Response.json([...headings, ...searchEntries(readDocument(document))], {
    headers: { "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff" },
  });
}

const ARCHIVE = { "Content-Type": "application/gzip", "X-Content-Type-Options": "nosniff" };

/** The package of applications, as npm installs it; null where it was not built. */
export async function packageFile(request: Request, env: PackageEnv): Promise<Response | null> {
  if (env.PACKAGE !== undefined) return env.PACKAGE.fetch(request);
  const asset = await env.ASSETS.fetch(request);
  if (asset.status === 404) return null;
  return new Response(asset.body, { headers: { ...ARCHIVE, "Cache-Control": "public, max-age=300" } });
}

/**
 * The finished folder of a quickstart, whose `.env` has the credentials that the request brought itself: no one gets a key
 * from here that they did not have. Null when there is no such quickstart.
 */
export async function quickstartArchive(
  request: Request,
  env: AssetsEnv & Settings,
  name: string,
): Promise<Response | null> {
  const markdown = await env.ASSETS.fetch(new Request(new URL(`/docs/quickstarts/${name}.md`, request.url)));
  if (markdown.status === 404) return null;
  const origin = originOf(request, env);
  const credentials = credentialsIn(request.headers.get("Authorization"));
  const archive = archiveOf(name, await markdown.text(), { origin, credentials });
  return new Response(archive, {
    headers: {
      ...ARCHIVE,
      "Content-Disposition": `attachment; filename="${name}.tgz"`,
      "Cache-Control": "private, no-store",
    },
  });
}

/** With whole base64, which `atob` always reads. */
const BASIC = /^Basic ((?:[\da-z+/]{4})*(?:[\da-z+/]{2}==|[\da-z+/]{3}=)?)$/i;

/** Credentials as `curl -u` sends them; null without any, and BAD_REQUEST for others. */
function credentialsIn(authorization: string | null) {
  if (authorization === null) return null;
  const [, encoded = ""] = BASIC.exec(authorization) ?? [];
  const [, accountId, apiKey] = /^([\w-]+):([\w-]+)$/.exec(atob(encoded)) ?? [];
  if (accountId === undefined || apiKey === undefined)
    throw new AppError(
      "Server",
      "BAD_REQUEST",
      "The credentials must be ACCOUNT_ID:API_KEY, as in curl -u; without them, .env has places for both",
    );
  return { accountId, apiKey };
}
