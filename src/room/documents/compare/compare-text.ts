/** Compares a text, or XML, at two points of a document's history. */
import * as Y from "yjs";
import { distinctAuthors } from "../../storage/authors.ts";
import type { Author } from "../../types/documents.ts";
import { type Items, itemsOf } from "../updates/built-document.ts";
import { closingTag, openingTag, requireDepth, valueAt } from "./items.ts";
import { type Budget, type Segment, Segments } from "./segments.ts";
import type { Piece, Point, TwoPoints } from "./two-points.ts";

/** The values of a format as JSON, and the authors of the difference. */
interface Format {
  readonly before: string;
  readonly after: string;
  readonly authors: readonly Author[];
}

const NONE = "null";

class Formats {
  readonly #formats = new Map<string, Format>();

  /** Passes a mark with which a format begins or ends. */
  pass(points: TwoPoints, item: Y.Item, { key, value }: Y.ContentFormat): void {
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
export function compareText(points: TwoPoints, type: Items, budget: Budget, depth: number): Segment[] {
  const segments = new Segments(budget);
  new TextComparison(points, segments).read(type, depth);
  return segments.differences();
}

class TextComparison {
  readonly #points: TwoPoints;
  readonly #segments: Segments;

  constructor(points: TwoPoints, segments: Segments) {
    this.#points = points;
    this.#segments = segments;
  }

  read(type: Items, depth: number): void {
    requireDepth(depth);
    const formats = new Formats();
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

  #addText(text: string, { op, authors }: Piece, formats: Formats): void {
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
