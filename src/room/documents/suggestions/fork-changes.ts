/** The changes of a fork, each of which is accepted or rejected as a whole. */
import * as Y from "yjs";
import {
  type ComparedDocument,
  type Piece,
  type Point,
  requireDepth,
  storedValue,
  valueAt,
} from "../compare/compared-document.ts";
import { ShownText } from "../compare/shown-text.ts";
import { splitsPair } from "../edits/text-content.ts";
import { type Items, itemsOf } from "../updates/built-document.ts";
import type { ClockRange } from "../updates/ranges.ts";
import { type ChangedMark, TextFormats } from "./text-formats.ts";

export type ChangeKind = "insert" | "delete" | "replace" | "format" | "set";

export type Path = readonly (string | number)[];

/** A gap between unchanged units of one container, in which the fork changed something. */
interface Place {
  readonly parent: Items;
  readonly left: Y.ID | null;
  right: Y.ID | null;
  inserts: boolean;
}

/** A changed key of a map, or attribute. */
export interface ChangedKey {
  readonly parent: Items;
  readonly key: string;
  /** All entries that the fork made. */
  readonly entries: readonly Y.Item[];
}

/** The item of a type within a type. */
type ContainerItem = Y.Item & { readonly content: Y.ContentType };

const isContainer = (item: Y.Item): item is ContainerItem => item.content instanceof Y.ContentType;

const CONTEXT_LENGTH = 40;

export class ForkChange {
  readonly path: Path;
  readonly root: string;
  readonly inserted: ClockRange[] = [];
  /** Operations that the base shows. */
  readonly deleted: ClockRange[] = [];
  /** Types of the base that it deletes, with all within them. */
  readonly containers: ContainerItem[] = [];
  /** Unchanged operations whose format changes. */
  formatted: readonly ClockRange[] = [];
  readonly places: Place[] = [];
  key: ChangedKey | null = null;
  kind: ChangeKind | null = null;
  /** The unchanged tags within it. */
  crossed: Gap = "none";
  context = { before: "", after: "" };
  /** Offsets in the unchanged text of the root. */
  flow: readonly [start: number, end: number];
  /** The texts at both points. */
  readonly shown = { before: new ShownText(), after: new ShownText() };
  /** The texts and values, as they are stored. */
  readonly stored = { before: "", after: "" };
  /** Whether it has formats or types, which `stored` does not have whole. */
  isPlain = true;

  constructor(root: string, path: Path, flow: number) {
    this.root = root;
    this.path = path;
    this.flow = [flow, flow];
  }

  get id(): string {
    const first = this.deleted[0] ?? this.inserted[0];
    return first === undefined ? "" : `${first.client}-${first.start}`;
  }

  /** Whether it puts the same in the place of what it deletes, as editors do to take a deletion back. */
  get isUndone(): boolean {
    const { kind, places, stored, isPlain } = this;
    return kind === "replace" && places.length === 1 && isPlain && stored.before === stored.after;
  }

  addMarks(marks: readonly ChangedMark[]): void {
    for (const { op, range } of marks) (op === "insert" ? this.inserted : this.deleted).push(range);
  }
}

/** The changes of a fork, in the order of its content. CONFLICT for types that nest too deeply. */
export function changesOf(points: ComparedDocument): ForkChange[] {
  return [...points.doc.share].flatMap(([root, type]) => new RootReader(points, root).changes(type));
}

/** The tags between the open change and the next one, which keep both together; or none. */
type Gap = "none" | "openings" | "closings";

const isXml = (type: Items): boolean => type instanceof Y.XmlFragment || type instanceof Y.XmlText;

/** A unit of a container, and its place. */
interface Unit {
  readonly item: Y.Item;
  readonly piece: Piece;
  readonly path: Path;
  readonly depth: number;
  readonly formats: TextFormats;
}

class RootReader {
  readonly #points: ComparedDocument;
  readonly #root: string;
  readonly #changes: ForkChange[] = [];
  /** The unchanged text. */
  readonly #flow: string[] = [];
  #flowLength = 0;
  /** The change that goes on with the next changed unit. */
  #open: ForkChange | null = null;
  #gap: Gap = "none";

  constructor(points: ComparedDocument, root: string) {
    this.#points = points;
    this.#root = root;
  }

  changes(type: Items): ForkChange[] {
    this.#read(type, [], 0);
    const flow = this.#flow.join("");
    const changes = this.#changes.filter(({ isUndone }) => !isUndone);
    for (const change of changes) {
      const [start, end] = change.flow;
      if (change.key === null)
        change.context = { before: textBefore(flow, start), after: textAfter(flow, end) };
    }
    return changes;
  }

  #read(type: Items, path: Path, depth: number): void {
    requireDepth(depth);
    if (type._map.size > 0) this.#readEntries(type, path, depth);
    this.#readList(type, path, depth);
  }

  #readEntries(type: Items, path: Path, depth: number): void {
    const [before, after] = [this.#points.entries(type, "before"), this.#points.entries(type, "after")];
    for (const [key, latest] of type._map) {
      const [old, current] = [before.get(key), after.get(key)];
      if (old !== current) this.#readKey({ type, key, latest, old, current }, [...path, key], depth);
      else if (current?.content instanceof Y.ContentType)
        this.#readApart(current.content.type, [...path, key], depth + 1);
    }
  }

  #readKey(
    {
      type,
      key,
      latest,
      old,
      current,
    }: { type: Items; key: string; latest: Y.Item; old: Y.Item | undefined; current: Y.Item | undefined },
    path: Path,
    depth: number,
  ): void {
    const [before, after] = [this.#valueOf(old, "before", depth), this.#valueOf(current, "after", depth)];
    const stored = [old, current].map((item) => item && storedValue(item, item.length - 1));
    if (stored[0] === stored[1] && JSON.stringify(before) === JSON.stringify(after)) return;
    const entries: Y.Item[] = [];
    for (let entry: Y.Item | null = latest; entry !== null; entry = entry.left)
      if (this.#isNew(entry)) entries.push(entry);
    const change = this.#add(path);
    change.kind = "set";
    change.key = { parent: type, key, entries };
    for (const [point, item, value] of [
      ["before", old, before],
      ["after", current, after],
    ] as const) {
      if (item === undefined) continue;
      change.shown[point].add(isXml(type) && typeof value === "string" ? value : JSON.stringify(value));
      this.#addAll(change, item, { start: 0, end: item.length });
    }
  }

  #valueOf(item: Y.Item | undefined, point: Point, depth: number): unknown {
    return item && valueAt(this.#points, item, item.length - 1, point, depth);
  }

  #isNew({ id: { client, clock } }: Y.Item): boolean {
    return clock >= (this.#points.stateBefore.get(client) ?? 0);
  }

  /** Reads a type that is no neighbor of what surrounds it. */
  #readApart(type: Items, path: Path, depth: number): void {
    const [open, gap] = [this.#open, this.#gap];
    this.#open = null;
    this.#read(type, path, depth);
    [this.#open, this.#gap] = [open, gap];
  }

  #readList(type: Items, path: Path, depth: number): void {
    const formats = new TextFormats(this.#points.tags);
    let [index, left]: [number, Y.ID | null] = [0, null];
    let run: { readonly change: ForkChange; readonly place: Place } | null = null;
    for (const item of itemsOf(type)) {
      const { content, id } = item;
      for (const piece of this.#points.pieces(item)) {
        if (content instanceof Y.ContentFormat) {
          formats.pass(item, content, piece);
          continue;
        }
        const unit = { item, piece, path: [...path, index], depth, formats };
        if (piece.op === "keep") {
          const within = formats.endRun(false);
          run?.change.addMarks(within);
          if (run !== null) run.place.right = Y.createID(id.client, id.clock + piece.start);
          run = null;
          this.#keep(unit);
          left = Y.createID(id.client, id.clock + piece.end - 1);
        } else {
          const change = this.#change(unit);
          run ??= { change, place: placeIn(change, type, left) };
          run.place.inserts ||= piece.op === "insert";
        }
        if (piece.op !== "delete") index += piece.end - piece.start;
      }
    }
    const within = formats.endRun(true);
    run?.change.addMarks(within);
    this.#addFormats(formats, path);
  }

  #keep({ item, piece: { start, end }, path, depth, formats }: Unit): void {
    const { content } = item;
    const { client, clock } = item.id;
    const text = content instanceof Y.ContentString ? content.str.slice(start, end) : "";
    formats.keep(text, { client, start: clock + start, end: clock + end }, this.#flowLength);
    this.#flowOn(text);
    if (!(content instanceof Y.ContentType)) {
      this.#open = null;
      return;
    }
    const type: Items = content.type;
    if (!isXml(type)) {
      this.#open = null;
      this.#read(type, path, depth + 1);
      this.#open = null;
      return;
    }
    this.#passTag("openings");
    this.#read(type, path, depth + 1);
    this.#passTag("closings");
    if (this.#flow.at(-1) !== "\n") this.#flowOn("\n");
  }

  /** An editor splits and joins blocks at tags that all open, or all close: both sides are one change. */
  #passTag(tag: Exclude<Gap, "none">): void {
    const crossed = this.#gap === "none" ? this.#open?.crossed : this.#gap;
    if (crossed !== undefined && crossed !== "none" && crossed !== tag) this.#open = null;
    this.#gap = tag;
  }

  #flowOn(text: string): void {
    if (text === "") return;
    this.#flow.push(text);
    this.#flowLength += text.length;
  }

  #change(unit: Unit): ForkChange {
    const { item, piece, path } = unit;
    if (this.#open !== null && this.#gap !== "none") this.#open.crossed = this.#gap;
    this.#open ??= this.#add(path);
    this.#gap = "none";
    const change = this.#open;
    const kind = piece.op === "insert" ? "insert" : "delete";
    change.kind = change.kind === null || change.kind === kind ? kind : "replace";
    this.#show(change, unit, kind === "insert" ? "after" : "before");
    this.#addAll(change, item, piece);
    change.flow = [change.flow[0], this.#flowLength];
    return change;
  }

  #show(change: ForkChange, { item, piece: { start, end }, depth, formats }: Unit, point: Point): void {
    const { content } = item;
    const [shown, tags] = [change.shown[point], formats.tags(point)];
    change.isPlain &&= tags.opening === "" && !(content instanceof Y.ContentType);
    if (content instanceof Y.ContentString) {
      const text = content.str.slice(start, end);
      shown.add(text, tags);
      change.stored[point] += text;
      return;
    }
    for (let offset = start; offset < end; offset += 1) {
      const value = valueAt(this.#points, item, offset, point, depth);
      if (content instanceof Y.ContentType && typeof value === "string") shown.add(value, tags);
      else shown.addValue(JSON.stringify(value), tags);
      change.stored[point] += `\0${storedValue(item, offset)}\0`;
    }
  }

  #add(path: Path): ForkChange {
    const change = new ForkChange(this.#root, path, this.#flowLength);
    this.#changes.push(change);
    return change;
  }

  /** Adds these operations of an item, and all that it contains. */
  #addAll(change: ForkChange, item: Y.Item, { start, end }: Pick<Piece, "start" | "end">): void {
    const { client, clock } = item.id;
    const isInserted = this.#isNew(item);
    (isInserted ? change.inserted : change.deleted).push({ client, start: clock + start, end: clock + end });
    if (!isContainer(item)) return;
    if (!isInserted) change.containers.push(item);
    const types: Items[] = [item.content.type];
    for (let type = types.pop(); type !== undefined; type = types.pop())
      for (const inner of childrenOf(type)) {
        for (const piece of this.#points.pieces(inner)) {
          if (piece.op === "keep") continue;
          const { id } = inner;
          const range = { client: id.client, start: id.clock + piece.start, end: id.clock + piece.end };
          (piece.op === "insert" ? change.inserted : change.deleted).push(range);
          if (piece.op === "delete" && isContainer(inner)) change.containers.push(inner);
        }
        if (isContainer(inner)) types.push(inner.content.type);
      }
  }

  #addFormats({ marks, stretch }: TextFormats, path: Path): void {
    if (stretch === null) return;
    const change = this.#add(path);
    change.kind = "format";
    change.addMarks(marks);
    change.formatted = stretch.units;
    change.flow = [stretch.flowStart, stretch.flowEnd];
    change.shown.before.add(stretch.before.slice(0, stretch.beforeEnd));
    change.shown.after.add(stretch.after.slice(0, stretch.afterEnd));
  }
}

function placeIn(change: ForkChange, parent: Items, left: Y.ID | null): Place {
  const place = { parent, left, right: null, inserts: false };
  change.places.push(place);
  return place;
}

/** The items of a list, and all entries of a map. */
export function* childrenOf(type: Items): Generator<Y.Item> {
  yield* itemsOf(type);
  for (const latest of type._map.values())
    for (let entry: Y.Item | null = latest; entry !== null; entry = entry.left) yield entry;
}

function textBefore(flow: string, at: number): string {
  const start = Math.max(0, at - CONTEXT_LENGTH);
  return flow.slice(splitsPair(flow, start) ? start + 1 : start, at);
}

function textAfter(flow: string, at: number): string {
  const end = Math.min(flow.length, at + CONTEXT_LENGTH);
  return flow.slice(at, splitsPair(flow, end) ? end - 1 : end);
}
