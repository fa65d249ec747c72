/** The formatting of a text at two points, up to the current item. */
import type * as Y from "yjs";
import type { Author } from "../../port/document-history.ts";
import { distinctAuthors } from "../../storage/authors.ts";
import type { TwoPoints } from "./two-points.ts";

/** The values of a format as JSON, and the authors of the difference. */
interface Format {
  readonly before: string;
  readonly after: string;
  readonly authors: readonly Author[];
}

const NONE = "null";

export class Formats {
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
