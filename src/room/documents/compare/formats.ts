/** The formatting of a text at two points, as far as one has read. */
import type * as Y from "yjs";
import type { Author } from "../../port/document-history.ts";
import { distinctAuthors } from "../../storage/authors.ts";
import type { TwoPoints } from "./two-points.ts";

/** The values of a format, as JSON, and whose change it is when they differ. */
interface Format {
  readonly before: string;
  readonly after: string;
  readonly authors: readonly Author[];
}

const NONE = "null";

export class Formats {
  readonly #formats = new Map<string, Format>();

  /** Reads on, over a mark with which a format begins or ends. */
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

  /** Who has changed the formatting here; null when it is the same at both points. */
  changedBy(): readonly Author[] | null {
    const changed = [...this.#formats.values()].filter(({ before, after }) => before !== after);
    return changed.length === 0 ? null : distinctAuthors(changed.flatMap(({ authors }) => authors));
  }
}
