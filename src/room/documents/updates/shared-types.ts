/** The shared types of a document, and how large one may be to be built by Yjs. */
import type * as Y from "yjs";
import { AppError } from "../../../platform/errors.ts";

/** A document takes up to 37 times its bytes in memory. */
const MAX_BUILT_BYTES = 1024 * 1024;

/** What a shared type can be read as: the updates do not say it. */
export const SHARED_TYPES = ["text", "map", "array", "xml"] as const;
export type SharedType = (typeof SHARED_TYPES)[number];

/** CONFLICT unless a document with these updates may be built. */
export function requireBuildable(updates: readonly Uint8Array[]): void {
  const bytes = updates.reduce((sum, { length }) => sum + length, 0);
  if (bytes > MAX_BUILT_BYTES)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A document above ${MAX_BUILT_BYTES} bytes is neither compared, restored nor rolled back; read its update`,
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
