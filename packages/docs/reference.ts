/** The API reference: pages made from the OpenAPI document alone. */
import * as api from "@atrium/contract/openapi/described.ts";
import type { SearchEntry } from "./browser/search-index.ts";
import { credentialSections, schemaListPage, schemaPage } from "./fields.ts";
import { badge, commonFailures, failureTable, operationPage } from "./operation.ts";
import {
  type Html,
  html,
  inline,
  layout,
  markup,
  navigationItem,
  operationAddress,
  prose,
  SCHEMAS_ADDRESS,
  schemaAddress,
} from "./page.ts";
import { RIGHTS_ADDRESS, rightsPage } from "./rights.ts";

interface Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly entries: readonly api.Entry[];
}

/** Parts of rooms by the segment of the path behind the room. */
const ROOM_PARTS: Readonly<Record<string, string>> = {
  stores: "Stores",
  downloads: "Stores",
  documents: "Documents",
  comments: "Comments",
  socket: "Live rooms",
  broadcast: "Live rooms",
  presence: "Live rooms",
  participants: "Live rooms",
};

function groupOf({ path, operation }: api.Entry): string {
  const tag = operation.tags?.[0] ?? "Other";
  const [, part = ""] = /\/rooms\/\{roomId\}\/(\w+)/.exec(path) ?? [];
  return tag === "Rooms" ? (ROOM_PARTS[part] ?? tag) : tag;
}

/** The tags of the document, of which rooms have several, in the order of its operations. */
function groupsOf(described: api.Described): Group[] {
  const groups = Map.groupBy(api.entriesOf(described), groupOf);
  const descriptions = new Map(described.tags?.map(({ name, description }) => [name, description]));
  return [...groups].map(([name, entries]) => ({ name, description: descriptions.get(name), entries }));
}

const operationItem = ({ method, operation }: api.Entry, here: string): Html =>
  navigationItem(
    operationAddress(operation.operationId),
    html`${badge(method)} <span>${inline(operation.summary)}</span>`,
    here,
  );

/** The navigation. The group of the page at `here` is open. */
function contents(groups: readonly Group[], here: string): Html {
  const isHere = ({ operation }: api.Entry): boolean => operationAddress(operation.operationId) === here;
  return html`<ul>${navigationItem("/docs/reference", "Introduction and credentials", here)}</ul>
    ${groups.map(
      ({ name, entries }) =>
        html`<details${markup(entries.some(isHere) ? " open" : "")}><summary>${name}</summary><ul>${entries.map((entry) => operationItem(entry, here))}</ul></details>`,
    )}
    <ul>${navigationItem(SCHEMAS_ADDRESS, "Schemas", here)}${navigationItem(RIGHTS_ADDRESS, "Rights", here)}</ul>`;
}

const groupSection = ({ name, description, entries }: Group): Html =>
  html`<section aria-label="${name}">
    <h2>${name}</h2>
    ${description === undefined ? "" : html`<p class="soft">${inline(description)}</p>`}
    <ul class="plain">${entries.map((entry) => operationItem(entry, ""))}</ul>
  </section>`;

const overviewPage = (described: api.Described): Html =>
  html`<h1>${described.info.title} API</h1>
    <p class="soft">API version ${described.info.version} · <a href="/v1/openapi.json">OpenAPI</a></p>
    ${prose(described.info.description)}
    ${credentialSections(described)}
    <h2 id="errors">Errors that operations share</h2>
    <p>The page of an operation lists its own errors, and names these.</p>
    ${failureTable("Errors that operations share", commonFailures(api.entriesOf(described)))}
    ${groupsOf(described).map(groupSection)}`;

function pageAt(
  described: api.Described,
  path: string,
): { readonly title: string; readonly content: Html } | null {
  const schemas = described.components?.schemas ?? {};
  const title = `${described.info.title} API`;
  if (path === "/docs/reference") return { title, content: overviewPage(described) };
  if (path === SCHEMAS_ADDRESS) return { title: `Schemas · ${title}`, content: schemaListPage(schemas) };
  if (path === RIGHTS_ADDRESS) return { title: `Rights · ${title}`, content: rightsPage(described) };
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (path === schemaAddress(name)) {
    const content = schemaPage(described, name);
    return content && { title: `${name} · ${title}`, content };
  }
  const isHere = ({ operation }: api.Entry): boolean => operationAddress(operation.operationId) === path;
  const entries = api.entriesOf(described);
  const entry = entries.find(isHere);
  if (entry === undefined) return null;
  return {
    title: `${entry.operation.summary} · ${title}`,
    content: operationPage(entry, schemas, commonFailures(entries)),
  };
}

function render(described: api.Described, path: string): string | null {
  const page = pageAt(described, path);
  if (page === null) return null;
  return layout({
    title: page.title,
    address: path,
    side: contents(groupsOf(described), path),
    content: html`<div><main id="content">${page.content}</main><footer>Made from <a href="/v1/openapi.json">/v1/openapi.json</a>, which tools can read.</footer></div>`,
  }).toString();
}

/** Pages by their paths, each rendered by the first request for it. */
const rendered = new WeakMap<api.Described, Map<string, string>>();

/** The page at a path, as HTML; null when there is none. */
export function readPage(described: api.Described, path: string): string | null {
  const known = rendered.get(described) ?? new Map<string, string>();
  rendered.set(described, known);
  const page = known.get(path) ?? render(described, path);
  if (page !== null) known.set(path, page);
  return page;
}

const REFERENCE = "API reference";

/** The operations and schemas for the search. */
export function searchEntries(described: api.Described): SearchEntry[] {
  const operations = api.entriesOf(described).map(({ method, path, operation }) => ({
    title: operation.summary,
    page: REFERENCE,
    url: operationAddress(operation.operationId),
    text: [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
      `atrium.${operation["x-sdk"] ?? ""}`,
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
