/** Restores a version, and takes back the edits of one author, by ordinary edits. */
import * as Y from "yjs";
import type { Author, AuthoredUpdate } from "../../types/documents.ts";
import { BuiltDocument, type DeleteSet, isServerClient, jsonOf } from "../updates/built-document.ts";
import { RangeMap } from "../updates/ranges.ts";
import { type Attribution, attribute } from "./attribution.ts";

/** The update by which `current` shows the same as `before`; null if it does. CONFLICT for too large documents. */
export function revertingUpdate(before: Uint8Array, current: Uint8Array): Uint8Array | null {
  const built = new BuiltDocument([before], [current]);
  return built.undo(built.applyLater(), { ignoreRemoteMapChanges: true });
}

/** Containers above a deleted item in which its deletion is searched. */
const MAX_DEPTH = 200;

/** The author whose changes are taken back, up to the update with this number. */
interface RolledBack {
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
      shared ??= containersOfOthers(doc, own.insertions); // after the deleted content is written again
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

/** The author's insertions, and the author's deletions of content of others or of its own earlier content. */
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

/** Levels at which containers are compared; a deeper container equals no other. */
const MAX_COMPARED_DEPTH = 200;

/** All items of a document, client by client in the order of their clocks. */
function* itemsOf(doc: Y.Doc): Generator<Y.Item> {
  for (const structs of doc.store.clients.values())
    for (const struct of structs) if (struct instanceof Y.Item) yield struct;
}

/** The attribution of a document's operations. */
interface History {
  /** Tells whether all of these operations came after the rolled back ones. */
  isLater(client: number, start: number, end: number): boolean;
  /** Tells whether one update deleted both. */
  isDeletedWith(item: Y.Item, container: Y.Item): boolean;
}

/** Operations that were written again: a repetition stands directly before its original. */
function writtenAgain(doc: Y.Doc, history: History): RangeMap<true> {
  const again = new RangeMap<true>();
  const repetitions = new RepeatedText(doc, history);
  for (const run of runsOf(doc)) {
    const [{ id, rightOrigin }] = run;
    if (rightOrigin === null) continue;
    const { client, clock } = rightOrigin;
    const length = run.reduce((sum, item) => sum + item.length, 0);
    if (isServerClient(id.client)) {
      if (client !== id.client) again.fill({ client, start: clock, end: clock + length }, true);
    } else if (history.isLater(id.client, id.clock, id.clock + length)) {
      const repeated = repetitions.lengthOf(run, rightOrigin);
      again.fill({ client, start: clock, end: clock + repeated }, true);
    }
  }
  return again;
}

type Run = readonly [Y.Item, ...Y.Item[]];

function* runsOf(doc: Y.Doc): Generator<Run> {
  let run: [Y.Item, ...Y.Item[]] | null = null;
  for (const item of itemsOf(doc)) {
    const last = run?.at(-1);
    const isRest =
      last !== undefined &&
      Y.compareIDs(item.origin, last.lastId) &&
      Y.compareIDs(item.rightOrigin, last.rightOrigin) &&
      item.id.client === last.id.client;
    if (isRest) run?.push(item);
    else {
      if (run !== null) yield run;
      run = [item];
    }
  }
  if (run !== null) yield run;
}

class RepeatedText {
  readonly #doc: Y.Doc;
  readonly #history: History;
  /** Cached texts of containers: many items may stand before one. */
  readonly #held = new Map<Y.Item, string>();

  constructor(doc: Y.Doc, history: History) {
    this.#doc = doc;
    this.#history = history;
  }

  /** The number of operations, from this one on, that the run repeats: all of its own, or all of the deleted item's. */
  lengthOf(run: Run, first: Y.ID): number {
    const deleted: unknown = Y.getItem(this.#doc.store, first);
    if (!(deleted instanceof Y.Item) || !deleted.deleted) return 0;
    const written = run.flatMap((item) => valuesOf(item, { start: 0, end: item.length }, textShown));
    const start = first.clock - deleted.id.clock;
    const original = valuesOf(deleted, { start, end: start + written.length }, (item) =>
      this.#textHeld(item),
    );
    return original.every((value, index) => value === written[index]) ? original.length : 0;
  }

  #textHeld(item: Y.Item): string {
    const text =
      this.#held.get(item) ??
      containerText(item, (child, container) => this.#history.isDeletedWith(child, container), 0);
    this.#held.set(item, text);
    return text;
  }
}

const textShown = (item: Y.Item): string => containerText(item, (child) => !child.deleted, 0);

/** One value for each of these operations of an item; `textOf` renders a container. */
function valuesOf(
  item: Y.Item,
  { start, end }: { readonly start: number; readonly end: number },
  textOf: (item: Y.Item) => string,
): string[] {
  const { content } = item;
  if (content instanceof Y.ContentString) return content.str.slice(start, end).split("");
  if (content instanceof Y.ContentType) return [textOf(item)];
  if (content instanceof Y.ContentFormat) return [keyOf([content.key, content.value])];
  return content.getContent().slice(start, end).map(keyOf);
}

/** Renders a container with its content, for comparison. */
function containerText(
  item: Y.Item,
  holds: (child: Y.Item, container: Y.Item) => boolean,
  depth: number,
): string {
  const { content, id } = item;
  if (!(content instanceof Y.ContentType) || depth > MAX_COMPARED_DEPTH) return keyOf(id);
  const type: Y.AbstractType<unknown> = content.type;
  const held = (child: Y.Item) =>
    holds(child, item)
      ? valuesOf(child, { start: 0, end: child.length }, (inner) => containerText(inner, holds, depth + 1))
      : [];
  const entries = [...type._map].map(([key, entry]) => keyOf([key, held(entry)])).sort();
  const children: string[] = [];
  for (let child = type._start; child !== null; child = child.right) children.push(...held(child));
  return keyOf([type.constructor.name, type instanceof Y.XmlElement ? type.nodeName : "", entries, children]);
}

/** JSON for comparing values. */
const keyOf = (value: unknown): string => jsonOf(value) ?? "";
