/** Renders maps and arrays as JSON, up to an extent: entries that do not fit are left out. */
import * as Y from "yjs";
import { type Items, itemsOf } from "../updates/built-document.ts";
import type { Extent } from "./extent.ts";
import { entriesOf, jsonOf, MAX_DEPTH, TextRendering, valuesOf } from "./text-rendering.ts";

/** An entry that does not fit. */
const LEFT_OUT = Symbol("left out");
/** Characters around an entry. */
const PUNCTUATION = 2;

export class JsonRendering {
  readonly #extent: Extent;
  readonly #texts: TextRendering;

  constructor(extent: Extent) {
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
