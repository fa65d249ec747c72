/** Says which shared types a document has, and what each seems to be: the document itself does not say it. */
import type { SharedType } from "../updates/shared-types.ts";
import { DELETED, EMBED, FORMAT, TEXT, TYPE } from "../updates/update-content.ts";
import type { FlatDocument } from "./flat-document.ts";
import { ELEMENT_TYPE, typeOf } from "./values.ts";

export interface NamedType {
  readonly name: string;
  readonly type: SharedType;
}

/** Those that have, or had, content, by name. */
export const typesOf = (document: FlatDocument): NamedType[] =>
  document.names.flatMap((name) => {
    const type = guess(document, name);
    return type === null ? [] : [{ name, type }];
  });

/** Null when nothing tells. */
function guess(document: FlatDocument, name: string): SharedType | null {
  let hasHad = false;
  for (const piece of document.piecesOf(name)) {
    hasHad = true;
    const kind = document.pieces.kind[piece];
    if (kind === TEXT || kind === FORMAT || kind === EMBED) return "text";
    if (kind === TYPE) return typeOf(document.pieces, piece).kind >= ELEMENT_TYPE ? "xml" : "array";
    // Neither what was deleted nor its kind is kept.
    if (kind !== DELETED) return "array";
  }
  if (document.hasEntries(name)) return "map";
  return hasHad ? "text" : null;
}
