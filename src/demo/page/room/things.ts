/** The things on a board, notes and shapes alike: where each is, and which are at a place. Pure. */
import { NOTE_SIZE, type Note, readNote, readShape } from "./model.ts";
import { boundsOf, crosses, distanceTo, type Point, type Shape } from "./shape.ts";

/** The entries of the board's stores, as they are or as they were. */
export interface BoardContent {
  readonly notes: Readonly<Record<string, unknown>>;
  readonly shapes: Readonly<Record<string, unknown>>;
}

/** The board as it was. */
export interface PastBoard extends BoardContent {
  /** By id. */
  readonly comments: Readonly<Record<string, unknown>>;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export type Thing = Note | Shape;
/** By id, which is the store and the key, such as `notes:0-seed`; from the back to the front. */
export type Things = ReadonlyMap<string, Thing>;

/** The same object for the same value, so that only what has changed is drawn again. */
const known = new WeakMap<object, Thing | null>();
function readThing(value: unknown, read: (value: unknown) => Thing | null): Thing | null {
  if (typeof value !== "object" || value === null) return read(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const thing = read(value);
  known.set(value, thing);
  return thing;
}

export function thingsOf({ notes, shapes }: BoardContent): Things {
  const things = new Map<string, Thing>();
  for (const [store, entries, read] of [
    ["notes", notes, readNote],
    ["shapes", shapes, readShape],
  ] as const) {
    for (const [key, value] of Object.entries(entries)) {
      const thing = readThing(value, read);
      if (thing !== null) things.set(`${store}:${key}`, thing);
    }
  }
  return things;
}

export const isNote = (thing: Thing): thing is Note => "text" in thing;

export const boxOf = (thing: Thing): Box =>
  isNote(thing) ? { x: thing.x, y: thing.y, ...NOTE_SIZE } : boundsOf(thing);

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

/** The id of the foremost thing at a point: a note below it, or a shape whose line is within the distance. */
export function thingAt(things: Things, point: Point, distance: number): string | null {
  const found = [...things].findLast(([, thing]) =>
    isNote(thing) ? contains(boxOf(thing), point) : distanceTo(thing, point) < distance,
  );
  return found?.[0] ?? null;
}

/** The ids of all things that a box touches: of shapes, it is the line that counts. */
export const thingsIn = (things: Things, box: Box): string[] =>
  [...things].flatMap(([id, thing]) =>
    overlap(boxOf(thing), box) && (isNote(thing) || crosses(thing, box)) ? [id] : [],
  );

/** Where a thing begins: the place by which others know how far it is dragged. */
export const originOf = (thing: Thing): Point =>
  isNote(thing) ? thing : { x: thing.points[0] ?? 0, y: thing.points[1] ?? 0 };
