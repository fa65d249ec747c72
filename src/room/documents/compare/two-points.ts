/** A document at two points of its history, built once. */
import * as Y from "yjs";
import type { Author } from "../../types/documents.ts";
import { type Attribution, type Authored, attribute } from "../history/attribution.ts";
import { BuiltDocument, type Items } from "../updates/built-document.ts";
import { RangeMap } from "../updates/range-map.ts";

export type Point = "before" | "after";

/** A part of an item with one fate. Offsets are within the item. */
export interface Piece {
  readonly op: "keep" | "insert" | "delete";
  readonly start: number;
  readonly end: number;
  /** The authors; none for kept parts, or if they are unknown. */
  readonly authors: readonly Author[];
}

export class TwoPoints {
  readonly doc: Y.Doc;
  readonly #attribution: Attribution;
  /** Tells whether an operation was shown at the first point; undefined for later ones. */
  readonly #shown = new RangeMap<boolean>();

  /** Builds the document after `before`, then after `since`. CONFLICT when it is too large to be built. */
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

  /** The parts of an item that were shown at either point, in their order. */
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

  /** The authors by whom an item of one operation came or went; none if it did neither. */
  authorsOf(item: Y.Item): readonly Author[] {
    return [...this.pieces(item)][0]?.authors ?? [];
  }

  /** The map entries, or attributes of an element, at a point. */
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
