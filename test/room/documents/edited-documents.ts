/** Documents that people type into and programs edit, for tests. */
import type { Edit, EditedRoot, Place } from "@atrium/contract/rest/document-edits.ts";
import { getSchema } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";
import { prosemirrorJSONToYXmlFragment } from "@tiptap/y-tiptap";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { applyEdits } from "../../../src/room/documents/edits/apply-edits.ts";
import { readBlocks } from "../../../src/room/documents/edits/blocks.ts";
import type { Author, AuthoredUpdate } from "../../../src/room/types/documents.ts";
import { by } from "./yjs-edits.ts";

export const TEXT: EditedRoot = { root: "root", type: "text" };
export const XML: EditedRoot = { root: "root", type: "xml" };

/** A text that people type into. */
export function typed(text: string) {
  const doc = new Y.Doc();
  const type = doc.getText("root");
  type.insert(0, text);
  return { doc, type };
}

export const schema = getSchema([StarterKit]);
export const line = (text: string) => ({
  type: "paragraph",
  content: text === "" ? [] : [{ type: "text", text }],
});

/** A document as Tiptap keeps it. */
export function written(...content: readonly object[]) {
  const doc = new Y.Doc();
  const type = doc.getXmlFragment("root");
  prosemirrorJSONToYXmlFragment(schema, { type: "doc", content: [...content] }, type);
  return { doc, type };
}

export const update = ({ doc }: { doc: Y.Doc }) => Y.encodeStateAsUpdate(doc);

/** The author of edits in tests. */
export const PROGRAM = by("program");

/** Edits the document, as the room does. */
export function change(
  at: { doc: Y.Doc },
  root: EditedRoot,
  edits: readonly Edit[],
  base: Uint8Array | null = null,
  since: readonly AuthoredUpdate[] = [],
) {
  const read = base && { state: base, since };
  const applied = applyEdits(update(at), root, edits, read, PROGRAM);
  if (applied.update !== null) Y.applyUpdate(at.doc, applied.update);
  return applied;
}

export const quote = (text: string, side: "before" | "after" = "after"): Place => ({ quote: text, side });

/** The anchors of a block, by its text. */
export function placeOf(at: { doc: Y.Doc }, root: EditedRoot, text: string) {
  const block = readBlocks(update(at), root, { after: null, limit: 1_000 }).blocks.find(
    (each) => each.text === text,
  );
  if (block === undefined) throw new Error(`There is no block “${text}”`);
  return { anchor: bytesToBase64(block.anchor), end: bytesToBase64(block.end) };
}

/** The updates that this typing makes. */
export function typing({ doc }: { doc: Y.Doc }, type: () => void): Uint8Array[] {
  const updates: Uint8Array[] = [];
  const note = (data: Uint8Array) => updates.push(data);
  doc.on("update", note);
  type();
  doc.off("update", note);
  return updates;
}

/** The same, with an author. */
export const typingBy = (author: Author, at: { doc: Y.Doc }, type: () => void): AuthoredUpdate[] =>
  typing(at, type).map((data) => ({ seq: 1, authors: [author], data }));

/** The state vector of a document that was read. */
export const stateOf = ({ doc }: { doc: Y.Doc }): Uint8Array => Y.encodeStateVector(doc);
