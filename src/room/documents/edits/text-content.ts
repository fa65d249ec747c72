/** The characters of a shared type, with the operation of each. */
import * as Y from "yjs";
import { type Items, itemsOf } from "../updates/built-document.ts";

/** Stands for a value that is no text: a lone surrogate, which no text of a request has. */
export const EMBEDDED = "\uDC00";

interface Run {
  readonly item: Y.Item;
  /** The index of its first operation, as Yjs counts. */
  readonly index: number;
}

export class TextContent {
  /** One unit for each operation that is shown; {@link EMBEDDED} for those that are no text. */
  readonly text: string;
  readonly runs: readonly Run[];

  constructor(type: Items) {
    const [parts, runs]: [string[], Run[]] = [[], []];
    let index = 0;
    for (const item of itemsOf(type)) {
      if (item.deleted || !item.countable) continue;
      const { content, length } = item;
      parts.push(content instanceof Y.ContentString ? content.str : EMBEDDED.repeat(length));
      runs.push({ item, index });
      index += length;
    }
    this.text = parts.join("");
    this.runs = runs;
  }

  /** The run of the operation at an index; the last one beyond the end. Undefined in an empty text. */
  runAt(index: number): Run | undefined {
    return this.runs[this.#positionOf(index)];
  }

  idAt(index: number): Y.ID | null {
    const run = this.runAt(index);
    return run === undefined ? null : Y.createID(run.item.id.client, run.item.id.clock + index - run.index);
  }

  /** The runs of a stretch, in order. */
  runsBetween(start: number, end: number): readonly Run[] {
    return start < end ? this.runs.slice(this.#positionOf(start), this.#positionOf(end - 1) + 1) : [];
  }

  /** The index itself, or the one before it where it would halve a character. */
  whole(index: number): number {
    return splitsPair(this.text, index) ? index - 1 : index;
  }

  #positionOf(index: number): number {
    let [low, high] = [0, this.runs.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.runs[middle]?.index ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

export const splitsPair = (text: string, index: number): boolean =>
  isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));

/** At most `length` characters around an index, without values that are no text. */
export function textAround(text: string, index: number, length: number): string {
  const from = Math.max(0, Math.min(index - Math.floor(length / 2), text.length - length));
  const start = splitsPair(text, from) ? from + 1 : from;
  const to = Math.min(text.length, from + length);
  return text.slice(start, splitsPair(text, to) ? to - 1 : to).replaceAll(EMBEDDED, "");
}
