/** The API reference: pages made from the OpenAPI document alone. */
import type { ApiDocument } from "../http/openapi/openapi.ts";
import { withPageHeaders } from "../http/security/security-headers.ts";
import { operationAddress, SCHEMAS_ADDRESS, schemaAddress } from "./addresses.ts";
import { contents } from "./contents.ts";
import { groupsOf } from "./groups.ts";
import { layout } from "./layout.ts";
import { type Described, entriesOf, readDocument } from "./model.ts";
import { operationPage } from "./operation.ts";
import { overviewPage } from "./overview.ts";
import { schemaListPage, schemaPage } from "./schemas.ts";
import { type Html, html } from "./text.ts";

/** A page without its head and navigation. */
interface Page {
  readonly title: string;
  readonly content: Html;
}

/** The page at a path of the service; null when there is none. */
function pageAt(described: Described, path: string): Page | null {
  const schemas = described.components?.schemas ?? {};
  const api = `${described.info.title} API`;
  if (path === "/docs/reference")
    return { title: api, content: overviewPage(described, groupsOf(described)) };
  if (path === SCHEMAS_ADDRESS) return { title: `Schemas · ${api}`, content: schemaListPage(schemas) };
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (path === schemaAddress(name)) {
    const content = schemaPage(described, name);
    return content && { title: `${name} · ${api}`, content };
  }
  const entry = entriesOf(described).find(
    ({ operation }) => operationAddress(operation.operationId) === path,
  );
  return entry === undefined
    ? null
    : { title: `${entry.operation.summary} · ${api}`, content: operationPage(entry, schemas) };
}

function render(described: Described, path: string): string | null {
  const page = pageAt(described, path);
  if (page === null) return null;
  return layout({
    title: page.title,
    side: contents(groupsOf(described), path),
    content: html`${page.content}<footer>Made from <a href="/v1/openapi.json">/v1/openapi.json</a>, which tools can read.</footer>`,
  }).toString();
}

/** Pages by their paths, each rendered when it is first asked for. */
const rendered = new WeakMap<ApiDocument, Map<string, string>>();

/** The page at a path, as HTML; null when there is none. */
export function readPage(document: ApiDocument, path: string): string | null {
  const known = rendered.get(document) ?? new Map<string, string>();
  rendered.set(document, known);
  const page = known.get(path) ?? render(readDocument(document), path);
  if (page !== null) known.set(path, page);
  return page;
}

/** The page of the API reference at `url`; null when there is none. */
export function referencePage(document: ApiDocument, url: URL): Response | null {
  const page = readPage(document, url.pathname);
  if (page === null) return null;
  const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "public, max-age=300" };
  return withPageHeaders(new Response(page, { headers }), url);
}
