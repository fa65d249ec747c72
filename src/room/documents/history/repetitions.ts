/** Finds deleted operations that were written again: by the service, or by the undo of an editor. */
import * as Y from "yjs";
import { isServerClient } from "../updates/built-document.ts";
import { RangeMap } from "../updates/range-map.ts";

/** Levels at which containers are compared; a deeper container equals no other. */
const MAX_DEPTH = 200;

/** All items of a document, client by client in the order of their clocks. */
export function* itemsOf(doc: Y.Doc): Generator<Y.Item> {
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

/**
 * The operations that were written again. A repetition stands directly before its original: for edits of the service
 * any such item is one, for others a later item of the same content.
 */
export function writtenAgain(doc: Y.Doc, history: History): RangeMap<true> {
  const again = new RangeMap<true>();
  const repetitions = new Repetitions(doc, history);
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

/** Groups items as they were inserted. An item of which a part was deleted is split. */
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

/** Compares later items with the deleted ones before which they stand. */
class Repetitions {
  readonly #doc: Y.Doc;
  readonly #history: History;
  /** Cached texts of containers: many items may stand before one. */
  readonly #held = new Map<Y.Item, string>();

  constructor(doc: Y.Doc, history: History) {
    this.#doc = doc;
    this.#history = history;
  }

  /**
   * The number of operations, from this one on, that the run repeats: all of its own, or all of the deleted item's.
   */
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
  if (content instanceof Y.ContentFormat) return [jsonOf([content.key, content.value])];
  return content.getContent().slice(start, end).map(jsonOf);
}

/** Renders a container with its content, for comparison. */
function containerText(
  item: Y.Item,
  holds: (child: Y.Item, container: Y.Item) => boolean,
  depth: number,
): string {
  const { content, id } = item;
  if (!(content instanceof Y.ContentType) || depth > MAX_DEPTH) return jsonOf(id);
  const type: Y.AbstractType<unknown> = content.type;
  const held = (child: Y.Item) =>
    holds(child, item)
      ? valuesOf(child, { start: 0, end: child.length }, (inner) => containerText(inner, holds, depth + 1))
      : [];
  const entries = [...type._map].map(([key, entry]) => jsonOf([key, held(entry)])).sort();
  const children: string[] = [];
  for (let child = type._start; child !== null; child = child.right) children.push(...held(child));
  return jsonOf([
    type.constructor.name,
    type instanceof Y.XmlElement ? type.nodeName : "",
    entries,
    children,
  ]);
}

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part)) ?? "";
