/** The table of rights: the kinds of credentials that open each operation. */

import * as api from "@atrium/contract/openapi/described.ts";
import {
  ALL_RIGHTS,
  isOfRooms,
  onlyRead,
  PRESETS,
  READ,
  type Rights,
  refusalOf,
  rightsIn,
} from "@atrium/contract/resources/permissions.ts";
import { type Html, html, inline, operationAddress, scrollBox } from "./page.ts";

export const RIGHTS_ADDRESS = "/docs/reference/rights";

/** The right that an operation needs, read from its security: keys come first, which have the rights of owners. */
export function rightOf({ security = [] }: api.Operation): string {
  if (security.length === 0) return "public";
  if (security.some((requirement) => Object.keys(requirement).length === 0)) return "signed";
  return String(security.flatMap((requirement) => Object.values(requirement).flat()).at(-1));
}

const ofRoom =
  (rights: Rights) =>
  (right: string): boolean =>
    isOfRooms(right) &&
    refusalOf(right, { isOrganization: false, rights, readsOnly: onlyRead(rights) }, "Auth") === null;

const ofOrganization = (right: string): boolean => right !== "identity";

const NARROWED = "API key, narrowed";

/** Kinds of credentials, and the rights that each opens. */
const KINDS: readonly (readonly [name: string, opens: (right: string) => boolean])[] = [
  ["API key", ofOrganization],
  [NARROWED, ofRoom(ALL_RIGHTS)],
  ["Owner", ofOrganization],
  ["Member", (right) => ofOrganization(right) && right !== "owner"],
  ["Editor", ofRoom(rightsIn(PRESETS.editor))],
  ["Commenter", ofRoom(rightsIn(PRESETS.commenter))],
  ["Viewer", ofRoom(rightsIn(PRESETS.viewer))],
  ["Reading token", ofRoom(READ)],
  ["Identity itself", (right) => right === "identity"],
];

/** A narrowed key has the rights that it was made with. */
function cellOf(right: string, isNarrowed: boolean, opens: (right: string) => boolean): string {
  if (right !== "public" && !opens(right)) return "–";
  return isNarrowed && /:(suggest|write)$/.test(right) && right !== "own:write" ? "if granted" : "yes";
}

const row = ({ operation }: api.Entry): Html => {
  const right = rightOf(operation);
  const cells = KINDS.map(([name, opens]) => html`<td>${cellOf(right, name === NARROWED, opens)}</td>`);
  return html`<tr><th scope="row"><a href="${operationAddress(operation.operationId)}">${inline(operation.summary)}</a></th><td>${right}</td>${cells}</tr>`;
};

export const rightsPage = (described: api.Described): Html => html`<h1>Rights</h1>
  <p>Each operation needs one right, the same over REST, a WebSocket and MCP. The organization's API keys and members have those of every room. A narrowed API key has those of its permissions, in its rooms alone. A user of a room, and an identity in a room that it has joined, has those that its role or its access and its token leave it, in that room alone. A guest is an identity whose access is that of its link.</p>
  <p><code>read</code> is for everyone who may enter the room, and the rights to write and to suggest are the permissions. <code>own:write</code> changes what the room keeps of the caller itself, such as what it is notified of: for all but tokens that only read. <code>organization</code> and <code>owner</code> are for what belongs to no room, <code>identity</code> for an identity's own inbox, <code>signed</code> for requests that prove a secret, and <code>public</code> operations look at credentials by themselves, as a WebSocket does at the token of its first message.</p>
  ${scrollBox(
    "Operations and the credentials that open them",
    html`<table>
      <thead><tr><th scope="col">Operation</th><th scope="col">Right</th>${KINDS.map(([name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${api.entriesOf(described).map(row)}</tbody>
    </table>`,
  )}`;
