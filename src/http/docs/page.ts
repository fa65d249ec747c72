/** The API's description as a page for people: made from the document alone, without a script. */

import type { ApiDocument } from "../openapi/openapi.ts";
import { exampleOf } from "./example.ts";
import { fieldsOf, fieldTable, limitsOf, typeOf } from "./fields.ts";
import {
  type Described,
  type Entry,
  entriesOf,
  jsonOf,
  nameOfRef,
  readDocument,
  type Schema,
  type Schemas,
  type SecurityScheme,
} from "./model.ts";
import { badge, jsonSample, operationSection } from "./operation.ts";
import { STYLE } from "./style.ts";
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

/** The document spells a scheme in lower case, as its registry does; requests write it with a capital. */
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Where in a request a credential stands. */
const placeOf = ({ in: place, name, scheme, bearerFormat }: SecurityScheme): Html =>
  place === "cookie"
    ? html`<code>Cookie: ${name ?? ""}</code>`
    : html`<code>Authorization: ${capitalized(scheme ?? "")}</code> ${bearerFormat ?? ""}`;

function credentials(described: Described): Html {
  const schemes = Object.entries(described.components?.securitySchemes ?? {});
  return html`<section id="credentials" aria-labelledby="credentials-title">
    <h2 id="credentials-title">Credentials</h2>
    <p>In the samples, <code>$BASE_URL</code> is this service's address and <code>$BEARER</code> is one of these that stand in <code>Authorization</code>.</p>
    ${schemes.map(
      ([name, scheme]) => html`<article id="${anchor("credential", name)}">
        <h3>${name}</h3>
        <p class="callers">${placeOf(scheme)}</p>
        ${prose(scheme.description)}
      </article>`,
    )}
  </section>`;
}

/** Names of the schemas that callers send; all others are for answers. */
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

/** All of the page after its style, which differs from answer to answer by its nonce alone. */
function render(described: Described): Html {
  const { info } = described;
  const schemas = described.components?.schemas ?? {};
  const groups = groupsOf(described);
  const sent = sentOf(described);
  return html`</head><body>
<a class="skip" href="#content">Skip to the content</a>
<div class="layout">
<div class="side">
  <header><h1>${info.title}</h1><p>API version ${info.version} · <a href="/v1/openapi.json">OpenAPI</a></p></header>
  ${contents(groups)}
</div>
<div>
<main id="content">
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
<footer>Made from <a href="/v1/openapi.json">/v1/openapi.json</a>, which tools can read.</footer>
</div>
</div>
</body></html>`;
}

const rendered = new WeakMap<ApiDocument, { readonly title: string; readonly rest: string }>();

function pageOf(document: ApiDocument) {
  const known = rendered.get(document);
  if (known !== undefined) return known;
  const described = readDocument(document);
  const page = { title: html`${described.info.title} API`.toString(), rest: render(described).toString() };
  rendered.set(document, page);
  return page;
}

/** An inline picture, because a browser that finds none asks for /favicon.ico and reports what it may not load. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232f47c2'/%3E%3Cpath d='M4 12 8 4l4 8' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

/** The page, rendered once for each document. */
export function docsPage(document: ApiDocument): Response {
  const { title, rest } = pageOf(document);
  const nonce = crypto.randomUUID();
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="${ICON}"><style nonce="${nonce}">${STYLE}</style>`;
  return new Response(head + rest, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "public, max-age=300",
    },
  });
}
