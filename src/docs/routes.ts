/** Serves the documentation: the guides, which the build renders, the API reference, the index of the search, and the downloads. */

import { readDocument } from "@atrium/contract/openapi/described.ts";
import { type ArchiveFor, archiveOf } from "@atrium/docs/archive.ts";
import { notFoundPage } from "@atrium/docs/not-found.ts";
import { readPage, searchEntries } from "@atrium/docs/reference.ts";
import { claimedKeyOf } from "../features/accounts/verify-key.ts";
import { endpointsFor } from "../http/endpoint.ts";
import type { ApiDocument } from "../http/openapi/openapi.ts";
import type { Call, RequestHandler } from "../http/pipeline.ts";
import { originOf, type PageNeeds, withoutCors, withPageHeaders } from "../http/security.ts";
import type { RequestContext } from "../platform/d1/context.ts";
import { readSetting, type Settings } from "../platform/settings.ts";

interface AssetsEnv {
  readonly ASSETS: Pick<Fetcher, "fetch">;
}

interface PackageEnv extends AssetsEnv {
  readonly PACKAGE?: Pick<Fetcher, "fetch">;
}

/** Files at another address. `/docs` is a folder's index, which would be redirected to one with a slash. */
const PLACES: Readonly<Record<string, string>> = { "/docs": "/docs/", "/llms.txt": "/docs/llms.txt" };

/** Folders without a page of their own: the home lists their pages. */
const FOLDERS: Readonly<Record<string, string>> = {
  "/docs/quickstarts": "/docs#quickstarts",
  "/docs/guides": "/docs#basics",
};

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

/** The file of a page, or the way to a list of pages; null when there is none. Without a demo, quickstarts keep their pictures. */
export async function guidePage(request: Request, env: AssetsEnv & Settings): Promise<Response | null> {
  const url = new URL(request.url);
  const list = FOLDERS[url.pathname.replace(/\/$/, "")];
  if (list !== undefined) return new Response(null, { status: 302, headers: { Location: list } });
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

const { rawEndpoint } = endpointsFor<RequestContext>({ module: "Server" });

/**
 * The finished folder of a quickstart; null when there is no such quickstart. Its `.env` has the API key that the request
 * brought, as `curl -u` does, once the pipeline of the API has counted and verified it.
 */
export async function quickstartArchive(
  call: Call,
  name: string,
  handleRequest: RequestHandler<RequestContext>,
): Promise<Response | null> {
  const { env } = call;
  const markdown = await env.ASSETS.fetch(
    new Request(new URL(`/docs/quickstarts/${name}.md`, call.request.url)),
  );
  if (markdown.status === 404) return null;
  const text = await markdown.text();
  const archive = (credentials: ArchiveFor["credentials"]): Response =>
    new Response(archiveOf(name, text, { origin: originOf(call.request, env), credentials }), {
      headers: {
        ...ARCHIVE,
        "Content-Disposition": `attachment; filename="${name}.tgz"`,
        "Cache-Control": "private, no-store",
      },
    });
  const request = withBearer(call.request);
  if (request === null) return archive(null);
  const key = claimedKeyOf(request);
  const endpoint = rawEndpoint({
    method: "GET",
    path: "/docs/quickstarts/:file",
    operation: "downloadQuickstart",
    right: "credential",
    summary: "Download the finished folder of a quickstart",
    answers: { 200: "The folder as a gzipped tar" },
    respond: async () => archive(key),
  });
  const params = { ...call.params, accountId: key?.accountId ?? "" };
  return withoutCors(await handleRequest(endpoint, { ...call, request, params }));
}

/** The request with its pair of ID and key as the API has it: Basic and Bearer differ by their name alone. Null without any. */
function withBearer(request: Request): Request | null {
  const authorization = request.headers.get("Authorization");
  if (authorization === null) return null;
  const headers = new Headers(request.headers);
  headers.set("Authorization", authorization.replace(/^Basic\b/i, "Bearer"));
  return new Request(request, { headers });
}
