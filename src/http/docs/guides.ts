/** Serves the documentation's pages, which the build renders from Markdown, and their index for the search. */
import { AppError } from "../../platform/errors.ts";
import { failure, withoutCors } from "../envelope.ts";
import type { ApiDocument } from "../openapi/openapi.ts";
import { withPageHeaders } from "../security-headers.ts";
import type { SearchEntry } from "./browser/search-index.ts";
import { entriesOf, readDocument } from "./model.ts";
import { anchor } from "./text.ts";

/** The files that the build has made. */
interface AssetsEnv {
  readonly ASSETS: Pick<Fetcher, "fetch">;
}

/** A page of the documentation, or a file that one loads. */
export async function guidePage(request: Request, env: AssetsEnv): Promise<Response> {
  const url = new URL(request.url);
  // Its index is the folder's, to which a request without a slash would be redirected.
  const asset = await env.ASSETS.fetch(
    url.pathname === "/docs" ? new Request(new URL("/docs/", url), request) : request,
  );
  if (asset.status !== 404) return withPageHeaders(asset, url);
  const error = new AppError("Server", "NOT_FOUND", "There is no such page; /docs lists all pages");
  return withoutCors(failure(error, crypto.randomUUID()));
}

/** The search index: the pages' headings, and the operations of the API reference. */
export async function searchIndex(
  request: Request,
  env: AssetsEnv,
  document: ApiDocument,
): Promise<Response> {
  const asset = await env.ASSETS.fetch(request);
  const headings: SearchEntry[] = await asset.json();
  return Response.json([...headings, ...operationEntries(document)], {
    headers: { "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff" },
  });
}

const operationEntries = (document: ApiDocument): SearchEntry[] =>
  entriesOf(readDocument(document)).map(({ method, path, operation }) => ({
    title: operation.summary,
    page: "API reference",
    url: `/docs/reference#${anchor("operation", operation.operationId)}`,
    text: `${method.toUpperCase()} ${path}`,
  }));
