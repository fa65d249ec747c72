/** One text of a document: a `Y.Text`, or an element of XML that is empty and may get one. */

import * as Y from "yjs";
import { itemsOf } from "../updates/built-document.ts";
import type { ClockRange } from "../updates/ranges.ts";
import { TextContent } from "./text-content.ts";

/** A stretch that became longer or shorter by `delta`; an insertion begins and ends at the same index. */
interface Shift {
  readonly end: number;
  readonly delta: number;
}

const EMPTY: Pick<Y.AbstractType<unknown>, "_start" | "_map"> = { _start: null, _map: new Map() };

export class TextNode {
  /** The element around it; null in a text, and directly in the root. */
  readonly element: Y.XmlElement | null;
  /** The number of elements around that one. */
  readonly depth: number;
  #type: Y.Text | null;
  #content: TextContent | null = null;
  readonly #shifts: Shift[] = [];

  constructor(type: Y.Text | null, element: Y.XmlElement | null, depth: number) {
    this.#type = type;
    this.element = element;
    this.depth = depth;
  }

  /** Null in an element that has none. */
  get type(): Y.Text | null {
    return this.#type;
  }

  /** The content as it was read. */
  get content(): TextContent {
    this.#content ??= this.presentContent();
    return this.#content;
  }

  presentContent(): TextContent {
    return new TextContent(this.#type ?? EMPTY);
  }

  /** The index of its first character: behind a map, with which a text of Lexical begins. */
  get start(): number {
    const first = this.content.runs.find(({ item: { content } }) => !isMap(content));
    return first?.index ?? this.content.text.length;
  }

  /** True for a text of Lexical, which drops characters that have no map before them. */
  needsMapBefore(index: number): boolean {
    return this.isOfLexical && !this.content.runs.some((run) => run.index < index && isMap(run.item.content));
  }

  get isOfLexical(): boolean {
    return this.#type?._map.has("__type") === true;
  }

  /** The items of the types around its characters. */
  containers(): ClockRange[] {
    return containersOf(this.#type ?? this.element);
  }

  /** The element in which a text begins with the first edit, and what was in it; null where there is one. */
  begun(): { readonly element: ClockRange; readonly remains: readonly ClockRange[] } | null {
    const item = this.element?._item;
    if (this.#type !== null || this.element === null || !item) return null;
    return { element: rangeOf(item), remains: Array.from(itemsOf(this.element), (each) => rangeOf(each)) };
  }

  /** The text to write into; an empty element gets one. */
  open(): Y.Text {
    if (this.#type !== null) return this.#type;
    const text = new Y.XmlText();
    this.element?.insert(0, [text]);
    this.#type = text;
    return text;
  }

  /** The present index of one that was read, after the edits so far. */
  present(index: number): number {
    return this.#shifts.reduce((at, { end, delta }) => (end <= index ? at + delta : at), index);
  }

  /** Notes that the stretch up to `end` has become longer or shorter. */
  shift(end: number, delta: number): void {
    this.#shifts.push({ end, delta });
  }
}

const isMap = (content: unknown): boolean =>
  content instanceof Y.ContentType && (content.type as unknown) instanceof Y.Map;

export const rangeOf = ({ id, length }: Y.Item): ClockRange => ({
  client: id.client,
  start: id.clock,
  end: id.clock + length,
});

/** The items of a type and of those around it. */
export function containersOf(type: unknown): ClockRange[] {
  const ranges: ClockRange[] = [];
  for (let at = type; at instanceof Y.AbstractType && at._item !== null; at = at._item.parent) {
    ranges.push(rangeOf(at._item));
  }
  return ranges;
}
