/** The API reference: a page made from the OpenAPI document alone. */
import type { ApiDocument } from "../openapi/openapi.ts";
import { withPageHeaders } from "../security-headers.ts";
import { credentials } from "./credentials.ts";
import { exampleOf } from "./example.ts";
import { fieldsOf, fieldTable, limitsOf, typeOf } from "./fields.ts";
import { layout } from "./layout.ts";
import {
  type Described,
  type Entry,
  entriesOf,
  jsonOf,
  nameOfRef,
  readDocument,
  type Schema,
  type Schemas,
} from "./model.ts";
import { badge, jsonSample, operationSection } from "./operation.ts";
import { anchor, type Html, html, inline, prose } from "./text.ts";

interface Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly entries: readonly Entry[];
}

const groupsOf = (described: Described): Group[] =>
  (described.tags ?? []).map(({ name, description }) => ({
    name,
    description,
    entries: entriesOf(described).filter((entry) => entry.operation.tags?.[0] === name),
  }));

function contents(groups: readonly Group[]): Html {
  const item = ({ method, operation }: Entry) =>
    html`<li><a href="#${anchor("operation", operation.operationId)}">${badge(method)} <span>${inline(operation.summary)}</span></a></li>`;
  return html`<nav aria-label="Contents">
    <p><a href="#introduction">Introduction</a></p>
    <p><a href="#credentials">Credentials</a></p>
    ${groups.map(
      ({ name, entries }) =>
        html`<p><a href="#${anchor("group", name)}">${name}</a></p><ul>${entries.map(item)}</ul>`,
    )}
    <p><a href="#schemas">Schemas</a></p>
  </nav>`;
}

/** Names of the schemas that callers send; all others are those of responses. */
const sentOf = (described: Described): ReadonlySet<string> =>
  new Set(entriesOf(described).map(({ operation }) => nameOfRef(jsonOf(operation.requestBody)?.$ref ?? "")));

function schemaSection(name: string, schema: Schema, schemas: Schemas, answered: boolean): Html {
  const fields = fieldsOf(schema, schemas);
  const limits = limitsOf(schema);
  return html`<article id="${anchor("schema", name)}">
    <h3>${name}</h3>
    <div class="columns">
      <div class="facts">
        ${prose(schema.description)}
        <p class="callers">${typeOf(schema)}${limits.map((limit) => html`, ${limit}`)}</p>
        ${fields.length === 0 ? "" : fieldTable(`Fields of ${name}`, fields, answered)}
      </div>
      <div class="samples">${jsonSample("Example", exampleOf(schema, schemas))}</div>
    </div>
  </article>`;
}

/** The whole page. */
function render(described: Described): Html {
  const { info } = described;
  const schemas = described.components?.schemas ?? {};
  const groups = groupsOf(described);
  const sent = sentOf(described);
  return layout({
    title: `${info.title} API`,
    side: html`<header><h1>${info.title} API</h1><p>API version ${info.version} · <a href="/v1/openapi.json">OpenAPI</a></p></header>
      ${contents(groups)}`,
    content: html`<main id="content">
  <section id="introduction" aria-labelledby="introduction-title">
    <h2 id="introduction-title">Introduction</h2>
    ${prose(info.description)}
  </section>
  ${credentials(described)}
  ${groups.map(
    ({
      name,
      description,
      entries,
    }) => html`<section id="${anchor("group", name)}" aria-labelledby="${anchor("title", name)}">
      <h2 id="${anchor("title", name)}">${name}</h2>
      ${description === undefined ? "" : html`<p class="lead">${inline(description)}</p>`}
      ${entries.map((entry) => operationSection(entry, schemas))}
    </section>`,
  )}
  <section id="schemas" aria-labelledby="schemas-title">
    <h2 id="schemas-title">Schemas</h2>
    ${Object.entries(schemas).map(([name, schema]) => schemaSection(name, schema, schemas, !sent.has(name)))}
  </section>
</main>
<footer>Made from <a href="/v1/openapi.json">/v1/openapi.json</a>, which tools can read.</footer>`,
  });
}

const rendered = new WeakMap<ApiDocument, string>();

function pageOf(document: ApiDocument): string {
  const known = rendered.get(document);
  if (known !== undefined) return known;
  const page = render(readDocument(document)).toString();
  rendered.set(document, page);
  return page;
}

/** The API reference, rendered once for each document. `url` is where it was asked for. */
export function referencePage(document: ApiDocument, url: URL): Response {
  const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "public, max-age=300" };
  return withPageHeaders(new Response(pageOf(document), { headers }), url);
}
