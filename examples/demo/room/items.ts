/** The items on a board, notes and shapes alike: where each is, and which are at a place. Pure. */
import { NOTE_SIZE, type Note, readNote, readShape } from "./model.ts";
import { boundsOf, crosses, distanceTo, type Point, type Shape } from "./shape.ts";

/** The entries of the board's stores. */
interface BoardContent {
  readonly notes: Readonly<Record<string, unknown>>;
  readonly shapes: Readonly<Record<string, unknown>>;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export type BoardItem = Note | Shape;
/** By id, which is the store and the key, such as `notes:00-seed`; from the back to the front. */
export type BoardItems = ReadonlyMap<string, BoardItem>;

/** The same object for the same value, so that only what has changed is drawn again. */
const known = new WeakMap<object, BoardItem | null>();
function readItem(value: unknown, read: (value: unknown) => BoardItem | null): BoardItem | null {
  if (typeof value !== "object" || value === null) return read(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const item = read(value);
  known.set(value, item);
  return item;
}

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** The items in the order of their keys, which is that of their creation and the same in every window. */
export function itemsOf({ notes, shapes }: BoardContent): BoardItems {
  const items = new Map<string, BoardItem>();
  for (const [store, entries, read] of [
    ["notes", notes, readNote],
    ["shapes", shapes, readShape],
  ] as const) {
    for (const [key, value] of Object.entries(entries).sort(byKey)) {
      const item = readItem(value, read);
      if (item !== null) items.set(`${store}:${key}`, item);
    }
  }
  return items;
}

export const isNote = (item: BoardItem): item is Note => "text" in item;

export const boxOf = (item: BoardItem): Box =>
  isNote(item) ? { x: item.x, y: item.y, ...NOTE_SIZE } : boundsOf(item);

/** The smallest box around all of these; null around none. */
export function boxAround(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null;
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

export const boxBetween = (from: Point, to: Point): Box => ({
  x: Math.min(from.x, to.x),
  y: Math.min(from.y, to.y),
  width: Math.abs(to.x - from.x),
  height: Math.abs(to.y - from.y),
});

export const contains = (box: Box, { x, y }: Point): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;

const overlap = (one: Box, other: Box): boolean =>
  one.x <= other.x + other.width &&
  other.x <= one.x + one.width &&
  one.y <= other.y + other.height &&
  other.y <= one.y + one.height;

/** The id of the foremost item at a point: a note below it, or a shape whose line is within the distance. */
export function itemAt(items: BoardItems, point: Point, distance: number): string | null {
  const found = [...items].findLast(([, item]) =>
    isNote(item) ? contains(boxOf(item), point) : distanceTo(item, point) < distance,
  );
  return found?.[0] ?? null;
}

/** The ids of all items that a box touches: of shapes, it is the line that counts. */
export const itemsIn = (items: BoardItems, box: Box): string[] =>
  [...items].flatMap(([id, item]) =>
    overlap(boxOf(item), box) && (isNote(item) || crosses(item, box)) ? [id] : [],
  );

/** Where an item begins: the place by which others know how far it is dragged. */
export const originOf = (item: BoardItem): Point =>
  isNote(item) ? item : { x: item.points[0] ?? 0, y: item.points[1] ?? 0 };
