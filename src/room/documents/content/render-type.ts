/** Renders a shared type of a document as text or JSON, without building the document as Yjs would. */
import { AppError } from "../../../platform/errors.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LENGTH } from "../updates/limits.ts";
import type { SharedType } from "../updates/shared-types.ts";
import { Extent } from "./extent.ts";
import { FlatDocument } from "./flat-document.ts";
import { type NamedType, typesOf } from "./guess-types.ts";
import { JsonRendering } from "./json-rendering.ts";
import { TextRendering } from "./text-rendering.ts";

export interface Rendered {
  readonly content: unknown;
  /** Whether the content is longer. */
  readonly isTruncated: boolean;
  /** All shared types of the document. */
  readonly types: readonly NamedType[];
}

/**
 * The content of the shared type with this name in a document, which is given as one update; with `maxLength`, up to
 * so many characters. CONFLICT for a document that is too large to be read, and without `maxLength` for a content that is
 * too long to be sent, or nested too deeply.
 */
export function renderType(
  update: Uint8Array,
  {
    type,
    root,
    maxLength,
  }: { readonly type: SharedType; readonly root: string; readonly maxLength: number | null },
): Rendered {
  if (update.length > MAX_SHOWN_BYTES)
    throw conflict(`A document above ${MAX_SHOWN_BYTES} bytes cannot be shown; read its update`);
  const document = new FlatDocument(update);
  const extent = new Extent(maxLength ?? MAX_SHOWN_LENGTH);
  const content = render(document, extent, type, root);
  if (extent.isCut && maxLength === null)
    throw conflict(
      `The content has more than ${MAX_SHOWN_LENGTH} characters, or is nested too deeply; ask for its beginning with maxLength`,
    );
  return { content, isTruncated: extent.isCut, types: typesOf(document) };
}

function render(document: FlatDocument, extent: Extent, type: SharedType, root: string): unknown {
  switch (type) {
    case "text":
      return new TextRendering(document, extent).text(root);
    case "xml":
      return new TextRendering(document, extent).xml(root, 0);
    case "map":
      return new JsonRendering(document, extent).map(root, 0);
    case "array":
      return new JsonRendering(document, extent).array(root, 0);
  }
}

const conflict = (message: string) => new AppError("Rooms", "CONFLICT", message);
