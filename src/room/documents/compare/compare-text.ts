/** Compares a text, or XML, at two points of a document's history. */

import { AppError } from "@atrium/contract/errors.ts";
import type { DocumentSegment } from "@atrium/contract/rest/documents.ts";
import * as Y from "yjs";
import { type Author, distinctAuthors } from "../../types/documents.ts";
import { type Items, itemsOf } from "../updates/built-document.ts";
import {
  type ComparedDocument,
  closingTag,
  openingTag,
  type Piece,
  type Point,
  requireDepth,
  valueAt,
} from "./compared-document.ts";

/** The values of a format as JSON, and the authors of the difference. */
interface Format {
  readonly before: string;
  readonly after: string;
  readonly authors: readonly Author[];
}

const NONE = "null";

class ComparedFormats {
  readonly #formats = new Map<string, Format>();

  /** Passes a mark with which a format begins or ends. */
  pass(points: ComparedDocument, item: Y.Item, { key, value }: Y.ContentFormat): void {
    const format = this.#formats.get(key) ?? { before: NONE, after: NONE, authors: [] };
    const json = JSON.stringify(value);
    for (const { op, authors } of points.pieces(item))
      this.#formats.set(key, {
        before: op === "insert" ? format.before : json,
        after: op === "delete" ? format.after : json,
        authors: op === "keep" ? [] : distinctAuthors([...format.authors, ...authors]),
      });
  }

  /** The authors of the current formatting; null when both points have the same. */
  changedBy(): readonly Author[] | null {
    const changed = [...this.#formats.values()].filter(({ before, after }) => before !== after);
    return changed.length === 0 ? null : distinctAuthors(changed.flatMap(({ authors }) => authors));
  }
}

/** Texts and XML are compared as a whole; their maps and arrays, as JSON. */
export const isText = (type: Items): boolean => type instanceof Y.Text || type instanceof Y.XmlFragment;

/** Returns the whole text in its order; nothing when it is unchanged. */
export function compareText(points: ComparedDocument, type: Items, budget: Budget, depth: number): Segment[] {
  const segments = new Segments(budget);
  new TextComparison(points, segments).read(type, depth);
  return segments.differences();
}

class TextComparison {
  readonly #points: ComparedDocument;
  readonly #segments: Segments;

  constructor(points: ComparedDocument, segments: Segments) {
    this.#points = points;
    this.#segments = segments;
  }

  read(type: Items, depth: number): void {
    requireDepth(depth);
    const formats = new ComparedFormats();
    for (const item of itemsOf(type)) {
      const { content } = item;
      if (content instanceof Y.ContentFormat) {
        formats.pass(this.#points, item, content);
        continue;
      }
      for (const piece of this.#points.pieces(item)) {
        if (content instanceof Y.ContentString)
          this.#addText(content.str.slice(piece.start, piece.end), piece, formats);
        else if (content instanceof Y.ContentType) this.#readType(item, content.type, piece, depth);
        else if (!(content instanceof Y.ContentDeleted)) this.#addEmbedded(item, piece, depth);
      }
    }
  }

  #addText(text: string, { op, authors }: Piece, formats: ComparedFormats): void {
    const changedBy = op === "keep" ? formats.changedBy() : null;
    this.#segments.add(
      changedBy === null
        ? { op, kind: "text", text, authors }
        : { op: "format", kind: "text", text, authors: changedBy },
    );
  }

  #readType(item: Y.Item, type: Items, piece: Piece, depth: number): void {
    if (!isText(type)) {
      this.#addEmbedded(item, piece, depth);
      return;
    }
    if (type instanceof Y.XmlElement) this.#addOpeningTag(type, piece);
    this.read(type, depth + 1);
    if (type instanceof Y.XmlElement)
      this.#segments.add({ op: piece.op, kind: "tag", text: closingTag(type), authors: piece.authors });
  }

  #addOpeningTag(element: Y.XmlElement, { op, authors }: Piece): void {
    const before = op === "insert" ? null : openingTag(this.#points, element, "before");
    const after = op === "delete" ? null : openingTag(this.#points, element, "after");
    this.#addBoth("tag", before, after, op === "keep" ? this.#authorsOfAttributes(element) : authors);
  }

  #authorsOfAttributes(element: Y.XmlElement): ReturnType<typeof distinctAuthors> {
    const [before, after] = [this.#points.entries(element, "before"), this.#points.entries(element, "after")];
    return distinctAuthors(
      [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
        const item = after.get(key) ?? before.get(key);
        return item === undefined ? [] : this.#points.authorsOf(item);
      }),
    );
  }

  #addEmbedded(item: Y.Item, { op, start, end, authors }: Piece, depth: number): void {
    for (let offset = start; offset < end; offset += 1) {
      const json = (point: Point) => JSON.stringify(valueAt(this.#points, item, offset, point, depth));
      const before = op === "insert" ? null : json("before");
      this.#addBoth("embed", before, op === "delete" ? null : json("after"), authors);
    }
  }

  /** Adds the state at each point; null for nothing. */
  #addBoth(
    kind: Segment["kind"],
    before: string | null,
    after: string | null,
    authors: Segment["authors"],
  ): void {
    if (before === after && after !== null) {
      this.#segments.add({ op: "keep", kind, text: after, authors: [] });
      return;
    }
    if (before !== null) this.#segments.add({ op: "delete", kind, text: before, authors });
    if (after !== null) this.#segments.add({ op: "insert", kind, text: after, authors });
  }
}

const MAX_ANSWER_LENGTH = 8 * 1024 * 1024;
/** JSON around a difference, and around an author. */
const FRAME_LENGTH = 64;

/** Bounds the answer of a comparison. */
export class Budget {
  #left = MAX_ANSWER_LENGTH;

  /** Spends characters of the answer. CONFLICT when it becomes too large. */
  spend(length: number, authors: readonly Author[]): void {
    this.#left -= length + FRAME_LENGTH * (1 + authors.length);
    if (this.#left < 0)
      throw new AppError("Rooms", "CONFLICT", "The versions differ in too much; compare closer ones");
  }
}

/** A stretch of text that was kept, inserted, deleted, or formatted in another way. */
export interface Segment extends Readonly<Omit<DocumentSegment, "authors">> {
  /** The authors; none for kept text, or if they are unknown. */
  readonly authors: readonly Author[];
}

class Segments {
  readonly #budget: Budget;
  #list: Segment[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(segment: Segment): void {
    const last = this.#list.at(-1);
    if (last !== undefined && isSame(last, segment)) {
      this.#budget.spend(segment.text.length, []);
      this.#list[this.#list.length - 1] = { ...last, text: last.text + segment.text };
      return;
    }
    this.#budget.spend(segment.text.length, segment.authors);
    this.#list.push(segment);
  }

  /** Returns the segments; none when all text was kept. Text that was written again in its place counts as kept. */
  differences(): Segment[] {
    const raw = this.#list;
    this.#list = [];
    for (let at = 0; at < raw.length; ) {
      const start = at;
      while (isReplaced(raw[at])) at += 1;
      for (const segment of condense(raw.slice(start, at))) this.add(segment);
      const next = raw[at];
      if (next !== undefined) this.add(next);
      at += 1;
    }
    return this.#list.every(({ op }) => op === "keep") ? [] : this.#list;
  }
}

const isReplaced = (segment: Segment | undefined): boolean =>
  segment !== undefined && (segment.op === "insert" || segment.op === "delete");

const isSame = (one: Segment, other: Segment): boolean =>
  one.op === other.op &&
  one.kind === "text" &&
  other.kind === "text" &&
  distinctAuthors([...one.authors, ...other.authors]).length === one.authors.length &&
  one.authors.length === other.authors.length;

/** Condenses deletions, and the insertions that follow, by their common start and end. */
function condense(replaced: readonly Segment[]): Segment[] {
  const deleted = replaced.filter(({ op }) => op === "delete").reverse();
  const inserted = replaced.filter(({ op }) => op === "insert").reverse();
  const start = peel(deleted, inserted, commonStart);
  const end = peel(deleted.reverse(), inserted.reverse(), commonEnd).reverse();
  return [...start, ...deleted, ...inserted, ...end];
}

/** A side from which two texts are compared. */
interface Cut {
  /** The common length; surrogate pairs stay whole. */
  length(one: string, other: string): number;
  taken(text: string, length: number): string;
  rest(text: string, length: number): string;
}

const isIn = (unit: number, from: number): boolean => unit >= from && unit < from + 0x400;

const commonStart: Cut = {
  length(one, other) {
    let length = 0;
    while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
    return isIn(one.charCodeAt(length - 1), 0xd800) ? length - 1 : length;
  },
  taken: (text, length) => text.slice(0, length),
  rest: (text, length) => text.slice(length),
};

const commonEnd: Cut = {
  length(one, other) {
    let length = 0;
    const unit = (text: string) => text.charCodeAt(text.length - 1 - length);
    while (length < one.length && unit(one) === unit(other)) length += 1;
    return isIn(one.charCodeAt(one.length - length), 0xdc00) ? length - 1 : length;
  },
  taken: (text, length) => text.slice(text.length - length),
  rest: (text, length) => text.slice(0, text.length - length),
};

/** Takes the common ends of both lists, and returns them. */
function peel(deleted: Segment[], inserted: Segment[], cut: Cut): Segment[] {
  const kept: Segment[] = [];
  for (;;) {
    const [one, other] = [deleted.at(-1), inserted.at(-1)];
    if (one === undefined || other === undefined || one.kind !== other.kind) return kept;
    const isWhole = one.text === other.text;
    if (!isWhole && one.kind !== "text") return kept;
    const length = isWhole ? one.text.length : cut.length(one.text, other.text);
    if (length === 0) return kept;
    kept.push({ ...one, op: "keep", text: cut.taken(one.text, length), authors: [] });
    for (const list of [deleted, inserted]) {
      const last = list.pop();
      if (last !== undefined && last.text.length > length)
        list.push({ ...last, text: cut.rest(last.text, length) });
    }
  }
}
