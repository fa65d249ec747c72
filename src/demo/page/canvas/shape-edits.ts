/** What can be done with a shape that is selected: how keys and pointers change it, and how that is said. Pure. */
import { type Point, type Shape, TINTS } from "../room/shape.ts";
import type { Box } from "./camera.ts";

/** No shape becomes smaller, so that it can be seen and held. */
const SMALLEST = 8;
const STEP = 10;
const LARGE_STEP = 50;

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
const PLACES: Readonly<Record<string, "first" | "previous" | "next" | "last">> = {
  ...{ Home: "first", PageUp: "previous", PageDown: "next", End: "last" },
};

export const SHAPE_KEYS =
  "Arrow keys move it, with Shift further; with Ctrl or Alt they resize it. Delete removes it. Page Up and Page Down go to other shapes, Escape to none.";

/** What a key means for the selected shape. */
export type ShapeEdit =
  | { readonly type: "move" | "resize"; readonly by: Point }
  | { readonly type: "delete" | "leave" }
  | { readonly type: "go"; readonly to: "first" | "previous" | "next" | "last" };

/** Of a keyboard event. */
export interface PressedKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Null for a key that means nothing for a shape. */
export function editOf({ key, shiftKey, ctrlKey, metaKey, altKey }: PressedKey): ShapeEdit | null {
  const direction = DIRECTIONS[key];
  const isModified = ctrlKey || metaKey || altKey;
  if (direction !== undefined) {
    const step = shiftKey ? LARGE_STEP : STEP;
    const by = { x: direction.x * step, y: direction.y * step };
    return { type: isModified ? "resize" : "move", by };
  }
  if (isModified) return null;
  if (key === "Delete" || key === "Backspace") return { type: "delete" };
  if (key === "Escape") return { type: "leave" };
  const to = PLACES[key];
  return to === undefined ? null : { type: "go", to };
}

/** What a shape covers. */
export function boxOf({ points }: Shape): Box {
  const [xs, ys] = [points.filter((_, at) => at % 2 === 0), points.filter((_, at) => at % 2 === 1)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

const withPoints = (shape: Shape, change: (value: number, isX: boolean, at: number) => number): Shape => ({
  ...shape,
  points: shape.points.map((value, at) => Math.round(change(value, at % 2 === 0, at))),
});

export const movedBy = (shape: Shape, { x, y }: Point): Shape =>
  withPoints(shape, (value, isX) => value + (isX ? x : y));

/** Its upper left corner stays where it is. */
export function resizedBy(shape: Shape, by: Point): Shape {
  const box = boxOf(shape);
  const last = shape.points.length - 2;
  const stretch = (value: number, from: number, length: number, more: number, isLast: boolean) => {
    // What has no extent cannot be stretched: its end is moved.
    if (length === 0) return isLast && shape.kind !== "pen" ? value + Math.max(more, 0) : value;
    return from + ((value - from) * Math.max(length + more, Math.min(length, SMALLEST))) / length;
  };
  return withPoints(shape, (value, isX, at) =>
    isX
      ? stretch(value, box.x, box.width, by.x, at >= last)
      : stretch(value, box.y, box.height, by.y, at >= last),
  );
}

const KINDS = { pen: "stroke", box: "box", oval: "oval", arrow: "arrow" } as const;

/** Such as "Blue box". */
export const titleOf = ({ kind, tint }: Shape): string => `${TINTS[tint] ?? TINTS[0]} ${KINDS[kind]}`;

/** What has happened to a shape, for those who do not see it. */
export function sayEdit(edit: ShapeEdit, after: Shape, left: number): string {
  const { x, y, width, height } = boxOf(after);
  const title = titleOf(after);
  if (edit.type === "move") return `${title} moved to ${x}, ${y}`;
  if (edit.type === "resize") return `${title} is ${width} wide and ${height} high`;
  if (edit.type === "delete") return `${title} deleted, ${left} ${left === 1 ? "shape" : "shapes"} left`;
  return "";
}

/** Which of so many shapes follows the one at an index. */
export const placeAfter = (to: "first" | "previous" | "next" | "last", at: number, count: number): number =>
  ({ first: 0, previous: Math.max(at - 1, 0), next: Math.min(at + 1, count - 1), last: count - 1 })[to];
