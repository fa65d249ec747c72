/** Renders a shared type of a document as text or JSON. */
import * as Y from "yjs";
import { AppError } from "../../../platform/errors.ts";
import {
  BuiltDocument,
  type Items,
  itemsOf,
  type SharedType,
  sharedTypeOf,
} from "../updates/built-document.ts";
import { MAX_SHOWN_LENGTH } from "../updates/limits.ts";
import { Extent } from "./extent.ts";
import { JsonRendering } from "./json-rendering.ts";
import { TextRendering } from "./text-rendering.ts";

interface NamedType {
  readonly name: string;
  readonly type: SharedType;
}

export interface Rendered {
  readonly content: unknown;
  /** Tells whether the content is longer. */
  readonly isTruncated: boolean;
  /** All shared types of the document that have, or had, content, by name. */
  readonly types: readonly NamedType[];
}

/** The shared type to render. Its content is cut at `maxLength` characters; null for all of it. */
interface Rendering {
  readonly type: SharedType;
  readonly root: string;
  readonly maxLength: number | null;
}

/**
 * Renders one shared type of a document, which is given as one update. CONFLICT for a document that is too large to be
 * built; without `maxLength` also for a content that is too long to be sent, or nested too deeply.
 */
export function renderContent(update: Uint8Array, { type, root, maxLength }: Rendering): Rendered {
  const { doc } = new BuiltDocument([update]);
  const types = typesOf(doc);
  const extent = new Extent(maxLength ?? MAX_SHOWN_LENGTH);
  const content = render(sharedTypeOf(doc, type, root), extent, type);
  if (extent.isCut && maxLength === null)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `The content has more than ${MAX_SHOWN_LENGTH} characters, or is nested too deeply; ask for its beginning with maxLength`,
    );
  return { content, isTruncated: extent.isCut, types };
}

function render(items: Items, extent: Extent, type: SharedType): unknown {
  switch (type) {
    case "text":
      return new TextRendering(extent).text(items);
    case "xml":
      return new TextRendering(extent).xml(items, 0);
    case "map":
      return new JsonRendering(extent).map(items, 0);
    case "array":
      return new JsonRendering(extent).array(items, 0);
  }
}

const typesOf = (doc: Y.Doc): NamedType[] =>
  [...doc.share.keys()].sort().flatMap((name) => {
    const items = doc.share.get(name);
    const type = items === undefined ? null : guessType(items);
    return type === null ? [] : [{ name, type }];
  });

/**
 * Guesses the kind of a shared type by its first telling item: a document does not say it. Null when it never had
 * content.
 */
function guessType(items: Items): SharedType | null {
  for (const { content } of itemsOf(items)) {
    if (content instanceof Y.ContentString || content instanceof Y.ContentFormat) return "text";
    if (content instanceof Y.ContentEmbed) return "text";
    if (content instanceof Y.ContentType) return isXml(content.type) ? "xml" : "array";
    // Deleted content has lost its kind.
    if (!(content instanceof Y.ContentDeleted)) return "array";
  }
  if (items._map.size > 0) return "map";
  return items._start === null ? null : "text";
}

const isXml = (type: unknown): boolean =>
  [Y.XmlElement, Y.XmlFragment, Y.XmlHook, Y.XmlText].some((kind) => type instanceof kind);
