/** Compares a shared type at two points of its document's history. */
import type { DocumentChange } from "@atrium/contract/rest/documents.ts";
import type { SharedType } from "@atrium/contract/shared-types.ts";
import * as Y from "yjs";
import type { Author } from "../../types/documents.ts";
import type { Authored } from "../history/attribution.ts";
import { type Items, itemsOf, sharedTypeOf } from "../updates/built-document.ts";
import { Budget, compareText, isText, type Segment } from "./compare-text.ts";
import { ComparedDocument, type Point, requireDepth, valueAt } from "./compared-document.ts";

/** A difference. Applied in their order, changes lead from one point to the other. */
export interface Change extends Omit<DocumentChange, "path" | "segments" | "authors"> {
  readonly path: readonly DocumentChange["path"][number][];
  /** The whole edited text in its order; null for other changes. */
  readonly segments: readonly Segment[] | null;
  /** The authors; none if they are unknown, and for `edit`, whose segments have them. */
  readonly authors: readonly Author[];
}

type Path = Change["path"];

/** Compares a shared type after `before` and after `since`. CONFLICT when the document or the difference is too large. */
export function compareType(
  before: readonly Uint8Array[],
  since: readonly Authored[],
  type: SharedType,
  root: string,
): Change[] {
  const points = new ComparedDocument(before, since);
  const shared = sharedTypeOf(points.doc, type, root);
  const comparison = new Comparison(points);
  comparison.compare(shared, []);
  return comparison.changes;
}

class Comparison {
  readonly changes: Change[] = [];
  readonly #points: ComparedDocument;
  readonly #budget = new Budget();

  constructor(points: ComparedDocument) {
    this.#points = points;
  }

  compare(type: Items, path: Path): void {
    requireDepth(path.length);
    if (isText(type)) this.#compareText(type, path);
    else if (type instanceof Y.Map) this.#compareMap(type, path);
    else this.#compareArray(type, path);
  }

  #compareText(type: Items, path: Path): void {
    const segments = compareText(this.#points, type, this.#budget, path.length);
    if (segments.length > 0)
      this.#add({ path, op: "edit", before: null, after: null, segments, authors: [] });
  }

  #compareMap(type: Items, path: Path): void {
    const [before, after] = [this.#points.entries(type, "before"), this.#points.entries(type, "after")];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [old, current] = [before.get(key), after.get(key)];
      if (old !== undefined && old === current) this.#compareWithin(current, [...path, key]);
      else this.#compareEntries(old, current, [...path, key]);
    }
  }

  #compareEntries(old: Y.Item | undefined, current: Y.Item | undefined, path: Path): void {
    const before = old === undefined ? null : this.#valueOf(old, "before", path);
    const after = current === undefined ? null : this.#valueOf(current, "after", path);
    const changed = current ?? old;
    const isReplaced = old !== undefined && current !== undefined;
    if (changed === undefined || (isReplaced && JSON.stringify(before) === JSON.stringify(after))) return;
    const op = isReplaced ? "replace" : old === undefined ? "insert" : "delete";
    this.#add({ path, op, before, after, segments: null, authors: this.#points.authorsOf(changed) });
  }

  #valueOf(item: Y.Item, point: Point, path: Path): unknown {
    return valueAt(this.#points, item, item.length - 1, point, path.length);
  }

  #compareArray(type: Items, path: Path): void {
    let position = 0;
    for (const item of itemsOf(type)) {
      for (const { op, start, end, authors } of this.#points.pieces(item)) {
        for (let offset = start; offset < end; offset += 1) {
          const at = [...path, position];
          if (op === "keep") this.#compareWithin(item, at);
          else {
            const point = op === "insert" ? "after" : "before";
            const value = valueAt(this.#points, item, offset, point, at.length);
            this.#add({ path: at, op, before: null, after: null, [point]: value, segments: null, authors });
          }
          if (op !== "delete") position += 1;
        }
      }
    }
  }

  #compareWithin({ content }: Y.Item, path: Path): void {
    if (content instanceof Y.ContentType) this.compare(content.type, path);
  }

  #add(change: Change): void {
    const { path, before, after, authors } = change;
    this.#budget.spend(JSON.stringify([path, before, after]).length, authors);
    this.changes.push(change);
  }
}
