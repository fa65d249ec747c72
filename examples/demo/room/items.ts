/** The items on a board, notes and shapes alike: where each is, and which are at a place. Pure. */
import { heightOf, NOTE_SIZE, type Note, readNote, readShape } from "./model.ts";
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

const frontOf = (item: BoardItem): number => (isNote(item) ? item.front : 0);

/** The items from the back to the front, the same in every window: notes as they were changed, shapes as they were made. */
export function itemsOf({ notes, shapes }: BoardContent): BoardItems {
  const items = new Map<string, BoardItem>();
  for (const [store, entries, read] of [
    ["notes", notes, readNote],
    ["shapes", shapes, readShape],
  ] as const) {
    const known = Object.entries(entries)
      .sort(byKey)
      .flatMap(([key, value]) => {
        const item = readItem(value, read);
        return item === null ? [] : [[`${store}:${key}`, item] as const];
      });
    for (const [id, item] of known.sort(([, one], [, other]) => frontOf(one) - frontOf(other)))
      items.set(id, item);
  }
  return items;
}

export const isNote = (item: BoardItem): item is Note => "text" in item;

export const boxOf = (item: BoardItem): Box =>
  isNote(item) ? { x: item.x, y: item.y, width: item.width, height: heightOf(item) } : boundsOf(item);

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

/** The distance between a new note and what is around it, and between the places that it may take. */
const [GAP, GRID] = [16, 24];

/** The columns and rows of a square ring around the middle, which is the ring 0. */
function* ringOf(ring: number): Generator<readonly [column: number, row: number]> {
  for (let column = -ring; column <= ring; column += 1)
    for (let row = -ring; row <= ring; row += Math.abs(column) === ring ? 1 : 2 * ring) yield [column, row];
}

/** The place nearest to the middle of this part of the board where a new note covers nothing; null if it is full. */
export function freePlace(items: BoardItems, part: Box): Point | null {
  const { width, height } = NOTE_SIZE;
  const middle = { x: part.x + (part.width - width) / 2, y: part.y + (part.height - height) / 2 };
  const [across, down] = [part.width - width, part.height - height].map((room) =>
    Math.floor(room / 2 / GRID),
  ) as [number, number];
  const taken = [...items.values()].map((item) => [item, boxOf(item)] as const);
  const isFree = ({ x, y }: Point) => {
    const area = { x: x - GAP, y: y - GAP, width: width + 2 * GAP, height: height + 2 * GAP };
    return !taken.some(([item, box]) => overlap(box, area) && (isNote(item) || crosses(item, area)));
  };
  let nearest: (Point & { readonly far: number }) | null = null;
  for (let ring = 0; ring <= Math.max(across, down) && ring < (nearest?.far ?? Infinity); ring += 1)
    for (const [column, row] of ringOf(ring)) {
      const far = Math.hypot(column, row);
      if (Math.abs(column) > across || Math.abs(row) > down || far >= (nearest?.far ?? Infinity)) continue;
      const place = { x: middle.x + column * GRID, y: middle.y + row * GRID };
      if (isFree(place)) nearest = { ...place, far };
    }
  return nearest && { x: nearest.x, y: nearest.y };
}

/** Where an item begins: the place by which others know how far it is dragged. */
export const originOf = (item: BoardItem): Point =>
  isNote(item) ? item : { x: item.points[0] ?? 0, y: item.points[1] ?? 0 };
