/** Renders a shared type of a document as text or JSON. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import type { SharedType } from "@atrium/contract/shared-types.ts";
import * as Y from "yjs";
import { BuiltDocument, type Items, itemsOf, jsonOf, sharedTypeOf } from "../updates/built-document.ts";
import { entriesOf, LengthBudget, MAX_DEPTH, TextRendering, valuesOf } from "./text-rendering.ts";

interface NamedType {
  readonly name: string;
  readonly type: SharedType;
}

export interface Rendered {
  readonly content: unknown;
  readonly isTruncated: boolean;
  /** All shared types of the document that have, or had, content, by name. */
  readonly types: readonly NamedType[];
}

/** The shared type to render. Its content is cut at `maxLength` characters; null for all of it. */
export interface Rendering {
  readonly type: SharedType;
  readonly root: string;
  readonly maxLength: number | null;
}

/** Renders one shared type. CONFLICT when the document or, without `maxLength`, the content is too large. */
export function renderContent(update: Uint8Array, { type, root, maxLength }: Rendering): Rendered {
  const { doc } = new BuiltDocument([update]);
  const types = typesOf(doc);
  const extent = new LengthBudget(maxLength ?? DOCUMENT_LIMITS.shownLength);
  const content = render(sharedTypeOf(doc, type, root), extent, type);
  if (extent.isCut && maxLength === null)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `The content has more than ${DOCUMENT_LIMITS.shownLength} characters, or is nested too deeply; ask for its beginning with maxLength`,
    );
  return { content, isTruncated: extent.isCut, types };
}

function render(items: Items, extent: LengthBudget, type: SharedType): unknown {
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

/** Guesses the kind of a shared type by its first telling item. Null when it never had content. */
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

const LEFT_OUT = Symbol("left out");
const PUNCTUATION = 2;

class JsonRendering {
  readonly #extent: LengthBudget;
  readonly #texts: TextRendering;

  constructor(extent: LengthBudget) {
    this.#extent = extent;
    this.#texts = new TextRendering(extent);
  }

  map(items: Items, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [key, { content }] of entriesOf(items)) {
      if (!this.#extent.takeAll(JSON.stringify(key).length + PUNCTUATION)) break;
      const value = this.#value(content, valuesOf(content).at(-1), depth);
      if (value !== LEFT_OUT) entries.push([key, value]);
    }
    return Object.fromEntries(entries);
  }

  array(items: Items, depth: number): unknown[] {
    const values: unknown[] = [];
    for (const { content, deleted } of itemsOf(items)) {
      if (deleted) continue;
      for (const value of valuesOf(content)) {
        if (!this.#extent.takeAll(PUNCTUATION)) return values;
        const shown = this.#value(content, value, depth);
        if (shown !== LEFT_OUT) values.push(shown);
      }
    }
    return values;
  }

  #value(content: Y.Item["content"], value: unknown, depth: number): unknown {
    return content instanceof Y.ContentType ? this.#type(content.type, depth) : this.#plain(value);
  }

  #type(type: Items, depth: number): unknown {
    if (depth >= MAX_DEPTH) {
      this.#extent.cut();
      return LEFT_OUT;
    }
    if (type instanceof Y.Array) return this.array(type, depth + 1);
    return type instanceof Y.Map ? this.map(type, depth + 1) : this.#texts.type(type, depth);
  }

  #plain(value: unknown): unknown {
    const json = jsonOf(value);
    if (json === undefined) return undefined;
    return this.#extent.takeAll(json.length) ? JSON.parse(json) : LEFT_OUT;
  }
}
