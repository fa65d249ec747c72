/** A document at two points of its history, built once: what it showed then, what it shows now, and whose change that is. */
import * as Y from "yjs";
import type { Author } from "../../port/document-history.ts";
import { type Attribution, type Authored, attribute } from "../history/attribution.ts";
import { BuiltDocument, type Items } from "../updates/built-document.ts";
import { RangeMap } from "../updates/range-map.ts";

/** One of the two points. */
export type Point = "before" | "after";

/** Part of an item of which all was inserted, deleted or kept alike. Its offsets are within the item. */
export interface Piece {
  readonly op: "keep" | "insert" | "delete";
  readonly start: number;
  readonly end: number;
  /** Whose change it is; none for what was kept, or if it is not known. */
  readonly authors: readonly Author[];
}

export class TwoPoints {
  readonly doc: Y.Doc;
  readonly #attribution: Attribution;
  /** Whether the document showed an operation at the first point; undefined for what was not there yet. */
  readonly #shown = new RangeMap<boolean>();

  /** The points are after `before`, and after `since` too. CONFLICT when the document is too large to be built. */
  constructor(before: readonly Uint8Array[], since: readonly Authored[]) {
    const built = new BuiltDocument(
      before,
      since.map(({ data }) => data),
    );
    this.doc = built.doc;
    this.#rememberShown();
    built.applyLater();
    this.#attribution = attribute(before, since);
  }

  #rememberShown(): void {
    const { ds, sv } = Y.snapshot(this.doc);
    for (const [client, deleted] of ds.clients)
      for (const { clock, len } of deleted)
        this.#shown.fill({ client, start: clock, end: clock + len }, false);
    for (const [client, end] of sv) this.#shown.fill({ client, start: 0, end }, true);
  }

  /** What became of an item, in its order; without what was shown at neither point. */
  *pieces({ id: { client, clock }, length, deleted }: Y.Item): Generator<Piece> {
    const authors = deleted ? this.#attribution.deleted : this.#attribution.inserted;
    for (let at = clock; at < clock + length; ) {
      const [was, by] = [this.#shown.at(client, at), authors.at(client, at)];
      const end = Math.min(clock + length, was.end, by.end);
      const piece = { start: at - clock, end: end - clock, authors: by.value ?? [] };
      if (was.value !== true && !deleted) yield { ...piece, op: "insert" };
      else if (was.value === true)
        yield deleted ? { ...piece, op: "delete" } : { ...piece, op: "keep", authors: [] };
      at = end;
    }
  }

  /** Whose change it is that an item of one operation came or went; none if it did neither. */
  authorsOf(item: Y.Item): readonly Author[] {
    return [...this.pieces(item)][0]?.authors ?? [];
  }

  /** The entries of a map, and the attributes of an element, that were shown at a point. */
  entries(type: Items, point: Point): Map<string, Y.Item> {
    const entries = new Map<string, Y.Item>();
    for (const [key, latest] of type._map) {
      let item: Y.Item | null = latest;
      while (item !== null && !this.#shows(item, point)) item = item.left;
      if (item !== null) entries.set(key, item);
    }
    return entries;
  }

  #shows({ id, deleted }: Y.Item, point: Point): boolean {
    return point === "after" ? !deleted : this.#shown.at(id.client, id.clock).value === true;
  }
}
