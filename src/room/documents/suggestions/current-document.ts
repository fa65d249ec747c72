/** The document as it is: the state by which a fork's changes are stale or fit. */
import * as Y from "yjs";
import { BuiltDocument, type Items } from "../updates/built-document.ts";
import { type ClockRange, IdSet } from "../updates/ranges.ts";
import type { ForkChange } from "./fork-changes.ts";

export class CurrentDocument {
  readonly state: ReadonlyMap<number, number>;
  readonly deleted = new IdSet();
  /** Keys whose entries are newer than the base. */
  readonly #newKeys = new Set<string>();

  /** Builds the document and keeps no item of it. CONFLICT when it is too large to be built. */
  constructor(current: Uint8Array, base: Uint8Array) {
    const { doc } = new BuiltDocument([current]);
    const baseState = Y.decodeStateVector(Y.encodeStateVectorFromUpdate(base));
    const names = rootNames(doc);
    this.state = new Map(Y.decodeStateVector(Y.encodeStateVector(doc)));
    for (const [client, structs] of doc.store.clients)
      for (const struct of structs) {
        const { clock } = struct.id;
        if (struct.deleted) this.deleted.add({ client, start: clock, end: clock + struct.length });
        else if (struct instanceof Y.Item && struct.parentSub !== null) {
          const { parent, parentSub } = struct;
          if (clock >= (baseState.get(client) ?? 0) && parent instanceof Y.AbstractType)
            this.#newKeys.add(nameOf(names, parent, parentSub));
        }
      }
  }

  /** Tells which changes of a fork, built as `doc`, have lost the text that they change, or are in the document already. */
  staleness(doc: Y.Doc): (change: ForkChange) => boolean {
    const names = rootNames(doc);
    return (change) => {
      if (change.inserted.some(({ client, start }) => start < (this.state.get(client) ?? 0))) return true;
      const { key } = change;
      if (key !== null && (this.#isGone(key.parent) || this.#newKeys.has(nameOf(names, key.parent, key.key))))
        return true;
      return change.kind === "format" ? this.#lacks(change.formatted) : this.#isTextGone(change);
    };
  }

  #isTextGone({ deleted, places }: ForkChange): boolean {
    if (this.#lacks(deleted)) return true;
    const insertions = places.filter(({ inserts }) => inserts);
    if (insertions.some(({ parent }) => this.#isGone(parent))) return true;
    return (
      deleted.length === 0 &&
      insertions.some(({ left, right }) => {
        const neighbors = [left, right].filter((id) => id !== null);
        return neighbors.length > 0 && neighbors.every((id) => this.#hasDeleted(id));
      })
    );
  }

  /** Whether all of these are deleted. */
  #lacks(ranges: readonly ClockRange[]): boolean {
    return ranges.length > 0 && ranges.every((range) => this.deleted.covers(range));
  }

  #isGone({ _item: item }: Items & { readonly _item?: Y.Item | null }): boolean {
    return item != null && this.#hasDeleted(item.id);
  }

  #hasDeleted({ client, clock }: Y.ID): boolean {
    return this.deleted.covers({ client, start: clock, end: clock + 1 });
  }
}

const rootNames = (doc: Y.Doc): ReadonlyMap<unknown, string> =>
  new Map([...doc.share].map(([name, type]) => [type, name]));

/** Names a key of a type, the same in each document that has the type. */
function nameOf(roots: ReadonlyMap<unknown, string>, parent: Items, key: string): string {
  const item = parent instanceof Y.AbstractType ? parent._item : null;
  return JSON.stringify([item === null ? (roots.get(parent) ?? "") : [item.id.client, item.id.clock], key]);
}
