/** The first page of the API reference: what all operations have in common, and where each is. */
import { operationLink } from "./contents.ts";
import { credentials } from "./credentials.ts";
import type { Group } from "./groups.ts";
import type { Described } from "./model.ts";
import { anchor, type Html, html, inline, prose } from "./text.ts";

const groupSection = ({ name, description, entries }: Group): Html =>
  html`<section aria-labelledby="${anchor("group", name)}">
    <h2 id="${anchor("group", name)}">${name}</h2>
    ${description === undefined ? "" : html`<p class="lead">${inline(description)}</p>`}
    <ul class="operations">${entries.map((entry) => operationLink(entry, ""))}</ul>
  </section>`;

export const overviewPage = (described: Described, groups: readonly Group[]): Html =>
  html`<main id="content">
    <h1>${described.info.title} API</h1>
    <p class="callers">API version ${described.info.version} · <a href="/v1/openapi.json">OpenAPI</a></p>
    ${prose(described.info.description)}
    ${credentials(described)}
    ${groups.map(groupSection)}
  </main>`;
