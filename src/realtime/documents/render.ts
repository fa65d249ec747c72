/** Renders a shared type of a document as text or JSON. Builds the document, so it has to be small. */
import * as Y from "yjs";
import { AppError } from "../../platform/errors.ts";

/** A document takes up to 37 times its bytes in memory. */
const MAX_RENDERED_BYTES = 1024 * 1024;

/** What a shared type can be read as: the updates do not say it. */
export const SHARED_TYPES = ["text", "map", "array", "xml"] as const;
export type SharedType = (typeof SHARED_TYPES)[number];

/** CONFLICT unless a document with these updates may be built. */
export function requireBuildable(updates: readonly Uint8Array[]): void {
  const bytes = updates.reduce((sum, { length }) => sum + length, 0);
  if (bytes > MAX_RENDERED_BYTES)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A document above ${MAX_RENDERED_BYTES} bytes is neither rendered, compared nor restored; read its update`,
    );
}

/** The shared type with this name. */
export function sharedTypeOf(doc: Y.Doc, type: SharedType, name: string) {
  switch (type) {
    case "text":
      return doc.getText(name);
    case "map":
      return doc.getMap(name);
    case "array":
      return doc.getArray(name);
    case "xml":
      return doc.getXmlFragment(name);
  }
}

/** The content of the shared type with this name; CONFLICT when the document is too large to be built. */
export function renderType(updates: readonly Uint8Array[], type: SharedType, name: string): unknown {
  requireBuildable(updates);
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  const shared = sharedTypeOf(doc, type, name);
  return shared instanceof Y.Map || shared instanceof Y.Array ? shared.toJSON() : shared.toString();
}
