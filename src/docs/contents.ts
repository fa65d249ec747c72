/** The navigation of the API reference: its groups of operations, with that of the page open. */
import { operationAddress, SCHEMAS_ADDRESS } from "./addresses.ts";
import type { Group } from "./groups.ts";
import type { Entry } from "./model.ts";
import { badge } from "./operation.ts";
import { type Html, html, inline, markup } from "./text.ts";

const current = (address: string, here: string): Html =>
  address === here ? markup(' aria-current="page"') : html``;

export function operationLink({ method, operation }: Entry, here: string): Html {
  const address = operationAddress(operation.operationId);
  return html`<li><a href="${address}"${current(address, here)}>${badge(method)} <span>${inline(operation.summary)}</span></a></li>`;
}

/** `here` is the path of the page. */
export function contents(groups: readonly Group[], here: string): Html {
  const isHere = ({ operation }: Entry): boolean => operationAddress(operation.operationId) === here;
  const page = (address: string, title: string) =>
    html`<li><a href="${address}"${current(address, here)}>${title}</a></li>`;
  return html`<nav aria-label="Contents">
    <ul>${page("/docs/reference", "Introduction and credentials")}</ul>
    ${groups.map(
      ({ name, entries }) =>
        html`<details${markup(entries.some(isHere) ? " open" : "")}><summary>${name}</summary><ul>${entries.map((entry) => operationLink(entry, here))}</ul></details>`,
    )}
    <ul>${page(SCHEMAS_ADDRESS, "Schemas")}</ul>
  </nav>`;
}
