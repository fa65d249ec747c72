/** Builds a document with Yjs: to show, compare, restore and roll it back. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import type { SharedType } from "@atrium/contract/shared-types.ts";
import * as encoding from "lib0/encoding";
import * as Y from "yjs";
import { compactUpdate } from "./compact-update.ts";
import { CONTENT } from "./content-reader.ts";
import { mergeMany } from "./known-content.ts";
import { CONTENT_BITS, readUpdate } from "./update-reader.ts";

/** A shared type of any kind, as its items. */
export type Items = Pick<Y.AbstractType<unknown>, "_start" | "_map">;

export type DeleteSet = ReturnType<typeof Y.createDeleteSet>;

/** The operations that a change inserts, and those that it deletes. */
interface Changes {
  readonly insertions: DeleteSet;
  readonly deletions: DeleteSet;
}

type UndoOptions = Pick<
  NonNullable<ConstructorParameters<typeof Y.UndoManager>[1]>,
  "deleteFilter" | "ignoreRemoteMapChanges"
>;

const EMPTY_UPDATE = new Uint8Array([0, 0]);

/** Merges updates, in as few items as Yjs would have. */
const merge = (updates: readonly Uint8Array[]): Uint8Array =>
  updates.length === 0 ? EMPTY_UPDATE : compactUpdate(mergeMany(updates), false);

export class BuiltDocument {
  readonly doc = new Y.Doc({ gc: false });

  readonly #later: readonly Uint8Array[];

  /**
   * Applies `updates`, in any order, and keeps `later` for {@link applyLater}. CONFLICT when all are too large
   * together.
   */
  constructor(updates: readonly Uint8Array[], later: readonly Uint8Array[] = []) {
    requireBuildable(merge([...updates, ...later]));
    this.#later = later;
    this.#begin();
    this.#apply(merge(updates));
  }

  /** Applies the updates that were left for later. CONFLICT when types nest too deeply, as for the constructor. */
  applyLater(): Changes {
    const transaction = this.#begin();
    this.#apply(merge(this.#later));
    return this.#changesOf(transaction);
  }

  /** Begins a transaction that never ends. At its end Yjs copies joined values: a hostile MiB would take gigabytes. */
  #begin(): Y.Transaction {
    const transaction = new Y.Transaction(this.doc, null, false);
    this.doc._transaction = transaction;
    return transaction;
  }

  #apply(update: Uint8Array): void {
    try {
      // Yjs retries operations that waited for several others only with the next update.
      for (const data of [update, EMPTY_UPDATE]) Y.applyUpdate(this.doc, data);
    } catch (error) {
      // Yjs deletes types within types by recursion.
      if (error instanceof RangeError) throw conflict("The document is nested too deeply; read its update");
      throw error;
    }
  }

  #changesOf({ beforeState, deleteSet }: Y.Transaction): Changes {
    const insertions = Y.createDeleteSet();
    for (const client of this.doc.store.clients.keys()) {
      const [start, end] = [beforeState.get(client) ?? 0, Y.getState(this.doc.store, client)];
      if (end > start) insertions.clients.set(client, [{ clock: start, len: end - start }]);
    }
    return { insertions, deletions: Y.mergeDeleteSets([deleteSet]) };
  }

  /** The update, as an edit of the service, that takes back changes of the document; null when nothing is left of them. */
  undo(changes: Changes, options: UndoOptions): Uint8Array | null {
    const { doc } = this;
    editAsServer(doc);
    const update = this.edit(() => {
      const manager = new Y.UndoManager(doc, options);
      manager.undoStack.push({ ...changes, meta: new Map() });
      manager.undo();
    });
    if (update !== null) doc.destroy();
    return update;
  }

  /** The update that this change of the document makes; null when it changes nothing. */
  edit(change: (transaction: Y.Transaction) => void): Uint8Array | null {
    const transaction = this.#begin();
    change(transaction);
    const { insertions, deletions } = this.#changesOf(transaction);
    if (insertions.clients.size + deletions.clients.size === 0) return null;
    return compactUpdate(encodeChanges(this.doc, transaction.beforeState, deletions), false);
  }
}

/** The operations that the document has beyond a state, with these deletions. */
export function encodeChanges(
  doc: Y.Doc,
  state: Y.Transaction["beforeState"],
  deletions: DeleteSet,
): Uint8Array {
  doc.store.pendingStructs = null;
  doc.store.pendingDs = null;
  // An encoded snapshot is its deletions, as in an update, and a state vector. Empty ones have one byte.
  const stateVector = Y.encodeSnapshot(Y.createSnapshot(Y.createDeleteSet(), state)).subarray(1);
  const deleted = Y.encodeSnapshot(Y.createSnapshot(deletions, new Map())).subarray(0, -1);
  const update = Y.encodeStateAsUpdate(doc, stateVector);
  const deletionsStart = readUpdate(update, {});
  return encoding.encode((encoder) => {
    encoding.writeUint8Array(encoder, update.subarray(0, deletionsStart));
    encoding.writeUint8Array(encoder, deleted);
  });
}

/** The memory that an item of this content takes, in items of text. Measured: 230 to 400 bytes each. */
const WEIGHTS: ReadonlyMap<number, number> = new Map([
  [CONTENT.skip, 0],
  [CONTENT.type, 2],
  [CONTENT.subdocument, 10],
]);

/** The items of an update, weighed by the memory that they take when Yjs builds them. */
export function weightOf(update: Uint8Array): number {
  let items = 0;
  readUpdate(update, {
    struct: ({ info }) => {
      items += WEIGHTS.get(info & CONTENT_BITS) ?? 1;
    },
  });
  return items;
}

/** CONFLICT for an update that is too large for Yjs to build. */
export function requireBuildable(update: Uint8Array): void {
  if (update.length > DOCUMENT_LIMITS.builtBytes || weightOf(update) > DOCUMENT_LIMITS.builtItems)
    throw conflict(
      `A document above ${DOCUMENT_LIMITS.builtBytes} bytes or ${DOCUMENT_LIMITS.builtItems} items is neither shown, edited, compared, restored nor rolled back; read its update`,
    );
}

const conflict = (message: string) => new AppError("Rooms", "CONFLICT", message);

/** The lower half of the client IDs of the service's own edits; clients choose theirs at random among 2^32. */
const MARK = 0xa721;
const HALF = 0x1_0000;

export const isServerClient = (client: number): boolean => client % HALF === MARK;

/** Makes the following edits the service's own. */
function editAsServer(doc: Y.Doc): void {
  do doc.clientID = (crypto.getRandomValues(new Uint16Array(1))[0] ?? 0) * HALF + MARK;
  while (doc.store.clients.has(doc.clientID));
}

/** Makes the following edits like those of a user: by this client ID, or one that no one has yet. */
export function editAsUser(doc: Y.Doc, client: number | null): void {
  if (client !== null) {
    doc.clientID = client;
    return;
  }
  while (isServerClient(doc.clientID) || doc.store.clients.has(doc.clientID))
    doc.clientID = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

export function sharedTypeOf(doc: Y.Doc, type: SharedType, name: string) {
  switch (type) {
    case "text":
      return doc.getText(name);
    case "map":
      return doc.getMap(name);
    case "array":
      return doc.getArray(name);
    case "xml":
      return doc.getXmlFragment(name);
  }
}

/** JSON of a value; undefined for none. */
export const jsonOf = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part));

/** The items of a list or a text, in their order, deleted ones included. */
export function* itemsOf(type: Items): Generator<Y.Item> {
  for (let item = type._start; item !== null; item = item.right) yield item;
}
