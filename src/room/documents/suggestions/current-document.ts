/** The document as it is: the state by which a fork's changes are stale or fit. */
import * as Y from "yjs";
import { BuiltDocument, type Items } from "../updates/built-document.ts";
import { type ClockRange, IdSet } from "../updates/ranges.ts";
import { scanUpdate } from "../updates/update-reader.ts";
import type { ForkChange } from "./fork-changes.ts";

export class CurrentDocument {
  /** All that it has, also what waits for other operations. */
  readonly operations = new IdSet();
  readonly deleted = new IdSet();
  /** Whether operations of the document wait for others, which have not come yet. */
  readonly isIncomplete: boolean;
  /** Keys whose latest entries are newer than the base. */
  readonly #newKeys = new Set<string>();
  /** Types of the base that hold something newer; formats alone are nothing. */
  readonly #grown = new IdSet();
  /** Newer formats, and operations that are deleted already, with the types of the base in which they were. */
  readonly #remains: { readonly range: ClockRange; readonly container: Y.ID }[] = [];

  /** Builds the document and keeps no item of it. CONFLICT when it is too large to be built. */
  constructor(current: Uint8Array, base: Uint8Array) {
    const { doc } = new BuiltDocument([current]);
    this.operations.addAll(scanUpdate(current).inserted);
    this.isIncomplete = doc.store.pendingStructs !== null;
    const baseState = Y.decodeStateVector(Y.encodeStateVectorFromUpdate(base));
    const isNew = ({ client, clock }: Y.ID) => clock >= (baseState.get(client) ?? 0);
    const names = rootNames(doc);
    const grown: ClockRange[] = [];
    for (const [client, structs] of doc.store.clients)
      for (const struct of structs) {
        const { clock } = struct.id;
        const range = { client, start: clock, end: clock + struct.length };
        if (struct.deleted) this.deleted.add(range);
        // The text that one client writes on and on is one item.
        if (!(struct instanceof Y.Item) || !isNew(Y.createID(client, range.end - 1))) continue;
        const { parent, parentSub } = struct;
        if (!(parent instanceof Y.AbstractType)) continue;
        if (parentSub !== null && parent._map.get(parentSub) === struct)
          this.#newKeys.add(nameOf(names, parent, parentSub));
        let container = parent._item;
        while (container !== null && isNew(container.id)) container = parentItemOf(container);
        if (container === null) continue;
        // Formats alone are no growth, but what is written behind one names it.
        if (struct.deleted || struct.content instanceof Y.ContentFormat)
          this.#remains.push({ range, container: container.id });
        else grown.push(rangeOf(container.id, 1));
      }
    this.#grown.addAll(inOrder([grown]));
  }

  /** The stretches of these operations that are not deleted. */
  shownOf(operations: IdSet): ClockRange[] {
    const shown: ClockRange[] = [];
    for (const { client, start, end } of operations.ranges())
      for (let at = start; at < end; ) {
        const { value, end: until } = this.deleted.at(client, at);
        const next = Math.min(end, until);
        if (value === undefined) shown.push({ client, start: at, end: next });
        at = next;
      }
    return shown;
  }

  /** Operations newer than the base that were deleted in these types. */
  remainsIn(containers: IdSet): ClockRange[] {
    return this.#remains.flatMap(({ range, container }) => (hasId(containers, container) ? [range] : []));
  }

  /**
   * Tells which changes of a fork, built as `doc`, have lost the text that they change, are the document's own, or would delete what others have written since into a type, or a key.
   */
  staleness(doc: Y.Doc): (change: ForkChange) => boolean {
    const names = rootNames(doc);
    return (change) => {
      if (change.inserted.some((range) => this.operations.meets(range))) return true;
      const { key } = change;
      if (key !== null && (this.#isGone(key.parent) || this.#newKeys.has(nameOf(names, key.parent, key.key))))
        return true;
      if (change.containers.some(({ id }) => hasId(this.#grown, id))) return true;
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

  #hasDeleted(id: Y.ID): boolean {
    return hasId(this.deleted, id);
  }
}

export const rangeOf = ({ client, clock }: Y.ID, length: number): ClockRange => ({
  client,
  start: clock,
  end: clock + length,
});

/** A set grows fast at its end alone. */
export const inOrder = (ranges: readonly (readonly ClockRange[])[]): ClockRange[] =>
  ranges.flat().sort((one, other) => one.start - other.start);

const hasId = (set: IdSet, { client, clock }: Y.ID): boolean => set.at(client, clock).value === true;

/** The type that contains an item; null for a type of the document. */
export const parentItemOf = ({ parent }: Y.Item): Y.Item | null =>
  parent instanceof Y.AbstractType ? parent._item : null;

const rootNames = (doc: Y.Doc): ReadonlyMap<unknown, string> =>
  new Map([...doc.share].map(([name, type]) => [type, name]));

/** Names a key of a type, the same in each document that has the type. */
function nameOf(roots: ReadonlyMap<unknown, string>, parent: Items, key: string): string {
  const item = parent instanceof Y.AbstractType ? parent._item : null;
  return JSON.stringify([item === null ? (roots.get(parent) ?? "") : [item.id.client, item.id.clock], key]);
}
