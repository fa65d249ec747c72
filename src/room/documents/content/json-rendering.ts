/** Renders maps and arrays as JSON, up to an extent: entries that do not fit are left out. */
import { TYPE } from "../updates/update-content.ts";
import type { Extent } from "./extent.ts";
import type { FlatDocument, TypePlace } from "./flat-document.ts";
import { MAX_DEPTH, TextRendering } from "./text-rendering.ts";
import { ARRAY_TYPE, HOOK_TYPE, MAP_TYPE, typeOf, valuesOf } from "./values.ts";

/** What does not fit. */
const LEFT_OUT = Symbol("left out");
/** Around an entry. */
const PUNCTUATION = 2;

export class JsonRendering {
  readonly #document: FlatDocument;
  readonly #extent: Extent;
  readonly #texts: TextRendering;

  constructor(document: FlatDocument, extent: Extent) {
    this.#document = document;
    this.#extent = extent;
    this.#texts = new TextRendering(document, extent);
  }

  map(type: TypePlace, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [key, piece] of this.#document.entriesOf(type)) {
      if (!this.#extent.takeAll(JSON.stringify(key).length + PUNCTUATION)) break;
      const value = this.#isType(piece)
        ? this.#type(piece, depth)
        : this.#plain(this.#valuesOf(piece).at(-1));
      if (value !== LEFT_OUT) entries.push([key, value]);
    }
    return Object.fromEntries(entries);
  }

  array(type: TypePlace, depth: number): unknown[] {
    const items: unknown[] = [];
    for (const piece of this.#document.shownIn(type)) {
      for (const value of this.#isType(piece) ? [piece] : this.#valuesOf(piece)) {
        if (!this.#extent.takeAll(PUNCTUATION)) return items;
        const item = this.#isType(piece) ? this.#type(piece, depth) : this.#plain(value);
        if (item !== LEFT_OUT) items.push(item);
      }
    }
    return items;
  }

  #type(piece: number, depth: number): unknown {
    if (depth >= MAX_DEPTH) {
      this.#extent.cut();
      return LEFT_OUT;
    }
    const { kind } = typeOf(this.#document.pieces, piece);
    if (kind === ARRAY_TYPE) return this.array(piece, depth + 1);
    return kind === MAP_TYPE || kind === HOOK_TYPE
      ? this.map(piece, depth + 1)
      : this.#texts.type(piece, depth);
  }

  /** As it can be sent. */
  #plain(value: unknown): unknown {
    const json = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part));
    if (json === undefined) return undefined;
    return this.#extent.takeAll(json.length) ? JSON.parse(json) : LEFT_OUT;
  }

  #isType(piece: number): boolean {
    return this.#document.pieces.kind[piece] === TYPE;
  }

  #valuesOf(piece: number): readonly unknown[] {
    return valuesOf(this.#document.pieces, piece);
  }
}
