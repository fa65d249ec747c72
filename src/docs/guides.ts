/** Serves the documentation's pages, which the build renders from Markdown, and their index for the search. */

import { failure } from "../http/envelope.ts";
import { entriesOf, readDocument } from "../http/openapi/described.ts";
import type { ApiDocument } from "../http/openapi/openapi.ts";
import { withoutCors, withPageHeaders } from "../http/security.ts";
import { AppError } from "../platform/errors.ts";
import type { SearchEntry } from "./browser/search-index.ts";
import { operationAddress, schemaAddress } from "./page.ts";
import { SDK_SAMPLES } from "./sdk-samples.ts";

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

export const noSuchPage = (): Response =>
  withoutCors(
    failure(
      new AppError("Server", "NOT_FOUND", "There is no such page; /docs lists all pages"),
      crypto.randomUUID(),
    ),
  );

/** The search index: the pages' headings, and the operations and schemas of the API reference. */
export async function searchIndex(
  request: Request,
  env: AssetsEnv,
  document: ApiDocument,
): Promise<Response> {
  const asset = await env.ASSETS.fetch(request);
  const headings: SearchEntry[] = await asset.json();
  return Response.json([...headings, ...referenceEntries(document)], {
    headers: { "Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff" },
  });
}

const REFERENCE = "API reference";

function referenceEntries(document: ApiDocument): SearchEntry[] {
  const described = readDocument(document);
  const operations = entriesOf(described).map(({ method, path, operation }) => ({
    title: operation.summary,
    page: REFERENCE,
    url: operationAddress(operation.operationId),
    text: [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
      SDK_SAMPLES[operation.operationId] ?? "",
    ].join(" "),
  }));
  const schemas = Object.entries(described.components?.schemas ?? {}).map(([name, { description }]) => ({
    title: name,
    page: `${REFERENCE}, schemas`,
    url: schemaAddress(name),
    text: description ?? "",
  }));
  return [...operations, ...schemas];
}
