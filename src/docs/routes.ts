/** Serves the documentation: the guides, which the build renders, the API reference, and the index of the search. */

import { AppError } from "@atrium/contract/errors.ts";
import { readDocument } from "@atrium/contract/openapi/described.ts";
import { readPage, searchEntries } from "@atrium/docs/reference.ts";
import { failure } from "../http/envelope.ts";
import type { ApiDocument } from "../http/openapi/openapi.ts";
import { withoutCors, withPageHeaders } from "../http/security.ts";

interface AssetsEnv {
  readonly ASSETS: Pick<Fetcher, "fetch">;
}

/** Files at another address. `/docs` is a folder's index, which would be redirected to one with a slash. */
const PLACES: Readonly<Record<string, string>> = { "/docs": "/docs/", "/llms.txt": "/docs/llms.txt" };

export async function guidePage(request: Request, env: AssetsEnv): Promise<Response> {
  const url = new URL(request.url);
  const place = PLACES[url.pathname];
  const asset = await env.ASSETS.fetch(
    place === undefined ? request : new Request(new URL(place, url), request),
  );
  return asset.status === 404 ? noSuchPage() : withPageHeaders(asset, url);
}

const noSuchPage = (): Response =>
  withoutCors(
    failure(
      new AppError("Server", "NOT_FOUND", "There is no such page; /docs lists all pages"),
      crypto.randomUUID(),
    ),
  );

/** The page of the API reference at `url`, made from the document. */
export function referencePage(url: URL, document: ApiDocument): Response {
  const page = readPage(readDocument(document), url.pathname);
  if (page === null) return noSuchPage();
  const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "public, max-age=300" };
  return withPageHeaders(new Response(page, { headers }), url);
}

/** The search index: the pages' headings, and the operations and schemas of the API reference. */
export async function searchIndex(
  request: Request,
  env: AssetsEnv,
  document: ApiDocument,
): Promise<Response> {
  const asset = await env.ASSETS.fetch(request);
  const headings: object[] = await asset.json();
  return Response.json([...headings, ...searchEntries(readDocument(document))], {
    headers: { "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff" },
  });
}
