/** Restores a version, and takes back the edits of one author, by ordinary edits. */
import * as Y from "yjs";
import type { Author, AuthoredUpdate } from "../../types/documents.ts";
import { BuiltDocument, type DeleteSet } from "../updates/built-document.ts";
import type { RangeMap } from "../updates/range-map.ts";
import { type Attribution, attribute } from "./attribution.ts";
import { itemsOf, writtenAgain } from "./repetitions.ts";

/**
 * The update that makes a document show the same as after `before`, where `current` is the whole document; null when
 * it does already. Later insertions are deleted, deletions are written again, as by an undo. Operations that
 * `current` lacks stay. CONFLICT when the document is too large to be built.
 */
export function revertingUpdate(before: Uint8Array, current: Uint8Array): Uint8Array | null {
  const built = new BuiltDocument([before], [current]);
  return built.undo(built.applyLater(), { ignoreRemoteMapChanges: true });
}

/** Containers above a deleted item in which its deletion is searched. */
const MAX_DEPTH = 200;

/** The author whose changes are taken back, up to the update with this number. */
export interface RolledBack {
  readonly author: Author;
  readonly upTo: number;
}

/**
 * The update that takes back the author's edits in `since`, the updates beyond `before`; null when there is nothing
 * to take back. Insertions are deleted, except containers in which others have written. Deletions are written again,
 * unless their container is gone, others have changed the entry since, or they were written again already. CONFLICT
 * when the document is too large to be built.
 */
export function rollbackUpdate(
  before: readonly Uint8Array[],
  since: readonly AuthoredUpdate[],
  rolledBack: RolledBack,
): Uint8Array | null {
  const updates = [...before, ...since.map(({ data }) => data)];
  const built = new BuiltDocument(updates);
  const { doc } = built;
  const own = new OwnChanges(doc, before, since, rolledBack);
  let shared: ReadonlySet<Y.Item> | null = null;
  return built.undo(own, {
    deleteFilter: (item) => {
      shared ??= containersOfOthers(doc, own.insertions); // after what was deleted is written again
      return !shared.has(item);
    },
  });
}

/** The item whose shared type contains an item; null in a type of the document itself. */
const containerOf = ({ parent }: Y.Item): Y.Item | null =>
  parent instanceof Y.AbstractType ? parent._item : null;

/** Containers of shown items that are not among these insertions. */
function containersOfOthers(doc: Y.Doc, insertions: DeleteSet): ReadonlySet<Y.Item> {
  const containers = new Set<Y.Item>();
  for (const item of itemsOf(doc)) {
    if (item.deleted || !item.countable || Y.isDeleted(insertions, item.id)) continue;
    for (let at = containerOf(item); at !== null && !containers.has(at); at = containerOf(at))
      containers.add(at);
  }
  return containers;
}

/** The author's insertions, and the author's deletions of what others, or the author earlier, had inserted. */
class OwnChanges {
  readonly insertions = Y.createDeleteSet();
  readonly deletions = Y.createDeleteSet();
  readonly #attribution: Attribution;
  readonly #isOwn: (authors: readonly Author[] | undefined) => boolean;

  constructor(
    doc: Y.Doc,
    before: readonly Uint8Array[],
    since: readonly AuthoredUpdate[],
    { author, upTo }: RolledBack,
  ) {
    const later: readonly Author[] = [];
    const parts = since.map(({ seq, authors, data }) => ({ data, authors: seq <= upTo ? authors : later }));
    this.#attribution = attribute(before, parts);
    this.#isOwn = (authors) => authors?.length === 1 && JSON.stringify(authors[0]) === JSON.stringify(author);
    for (const [{ client, start, end }, authors] of this.#attribution.inserted.entries())
      if (this.#isOwn(authors)) add(this.insertions, client, start, end);
    const { inserted, deleted } = this.#attribution;
    const restored = writtenAgain(doc, {
      isLater: (client, start, end) => {
        const stretch = inserted.at(client, start);
        return stretch.value === later && stretch.end >= end;
      },
      isDeletedWith: ({ id }, container) =>
        deleted.at(id.client, id.clock).value === deleted.at(container.id.client, container.id.clock).value,
    });
    for (const item of itemsOf(doc))
      if (item.deleted && !this.#isEntryOfOthers(item)) this.#addDeleted(item, restored);
  }

  #addDeleted(item: Y.Item, restored: RangeMap<true>): void {
    const { client, clock } = item.id;
    for (let at = clock; at < clock + item.length; ) {
      const [by, again] = [this.#attribution.deleted.at(client, at), restored.at(client, at)];
      const end = Math.min(clock + item.length, by.end, again.end);
      if (again.value === undefined && this.#isDeletedByAuthor(item, at))
        add(this.deletions, client, at, end);
      at = end;
    }
  }

  /** Attributes a deletion. Items that arrive in a deleted container go with it, and no update says so. */
  #isDeletedByAuthor(item: Y.Item, clock: number): boolean {
    let by = this.#attribution.deleted.at(item.id.client, clock).value;
    let container = containerOf(item);
    for (let depth = 0; by === undefined && container?.deleted && depth < MAX_DEPTH; depth += 1) {
      by = this.#attribution.deleted.at(container.id.client, container.id.clock).value;
      container = containerOf(container);
    }
    return this.#isOwn(by);
  }

  /** Tells whether someone else has deleted the map entry that the author had replaced. */
  #isEntryOfOthers(item: Y.Item): boolean {
    const { parent, parentSub } = item;
    if (parentSub === null || !(parent instanceof Y.AbstractType)) return false;
    const latest = parent._map.get(parentSub);
    return (
      latest !== undefined &&
      latest !== item &&
      latest.deleted &&
      !this.#isDeletedByAuthor(latest, latest.id.clock)
    );
  }
}

function add(set: DeleteSet, client: number, start: number, end: number): void {
  const ranges = set.clients.get(client) ?? [];
  const last = ranges.at(-1);
  if (last !== undefined && last.clock + last.len === start)
    ranges[ranges.length - 1] = { clock: last.clock, len: end - last.clock };
  else ranges.push({ clock: start, len: end - start });
  set.clients.set(client, ranges);
}
