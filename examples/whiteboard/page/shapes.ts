/** What is on the board: the store's shape, and shapes read defensively, because any client can write anything. */
import { defineStores } from "atrium/client";

const NUMBER = { type: "number", required: true } as const;

export const STORES = defineStores({
  shapes: {
    kind: { type: "string", required: true },
    x: NUMBER,
    y: NUMBER,
    width: NUMBER,
    height: NUMBER,
    color: { type: "string", default: "#1f2937" },
    /** Of a stroke: x and y in turn, as fractions of its width and height. */
    points: { type: "array", default: [] },
    /** Of a picture: the key of its file. */
    file: { type: "string", default: "" },
  },
});

/** A rectangle in the board's own units, which are pixels at a zoom of 1. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Shape extends Box {
  readonly kind: "stroke" | "box" | "picture";
  readonly color: string;
  readonly points: readonly number[];
  readonly file: string;
}

const KINDS = ["stroke", "box", "picture"] as const;
/** Nothing is further away or larger than this. */
const FAR = 100_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const numberOf = (value: unknown, lowest = -FAR): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.min(Math.max(value, lowest), FAR) : 0;
export const colorOf = (value: unknown, otherwise = "#1f2937"): string =>
  typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : otherwise;

/** The shape that a store's entry describes; null if it describes none. */
export function readShape(value: unknown): Shape | null {
  if (!isRecord(value)) return null;
  const kind = KINDS.find((each) => each === value.kind);
  if (kind === undefined) return null;
  return {
    kind,
    ...readBox(value),
    color: colorOf(value.color),
    points: Array.isArray(value.points) ? value.points.map((each) => numberOf(each)) : [],
    file: typeof value.file === "string" ? value.file : "",
  };
}

function readBox(value: Record<string, unknown>): Box {
  return {
    x: numberOf(value.x),
    y: numberOf(value.y),
    width: numberOf(value.width, 1),
    height: numberOf(value.height, 1),
  };
}

export const readPoint = (value: unknown): Point | null =>
  isRecord(value) ? { x: numberOf(value.x), y: numberOf(value.y) } : null;

/** The smallest box around all of these; null for none. */
export function boxAround(boxes: Iterable<Box>): Box | null {
  let [left, top, right, bottom] = [FAR, FAR, -FAR, -FAR];
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return right < left ? null : { x: left, y: top, width: right - left, height: bottom - top };
}

export const contains = (box: Box, { x, y }: Point): boolean =>
  x >= box.x && y >= box.y && x <= box.x + box.width && y <= box.y + box.height;

export const overlap = (one: Box, other: Box): boolean =>
  one.x <= other.x + other.width &&
  other.x <= one.x + one.width &&
  one.y <= other.y + other.height &&
  other.y <= one.y + one.height;

/** The box between two corners. */
export const boxBetween = (one: Point, other: Point): Box => ({
  x: Math.min(one.x, other.x),
  y: Math.min(one.y, other.y),
  width: Math.abs(one.x - other.x),
  height: Math.abs(one.y - other.y),
});

/** Where `box` is after `from` has been moved and resized to `to`. */
export const mapBox = (box: Box, from: Box, to: Box): Box => ({
  x: to.x + ((box.x - from.x) / from.width) * to.width,
  y: to.y + ((box.y - from.y) / from.height) * to.height,
  width: Math.max((box.width / from.width) * to.width, 1),
  height: Math.max((box.height / from.height) * to.height, 1),
});

/** A stroke through these points. */
export function strokeThrough(points: readonly Point[], color: string): Shape {
  const around = boxAround(points.map(({ x, y }) => ({ x, y, width: 0, height: 0 })));
  const { x, y } = around ?? { x: 0, y: 0 };
  const width = Math.max(around?.width ?? 0, 1);
  const height = Math.max(around?.height ?? 0, 1);
  const fraction = (value: number) => Math.round(value * 10_000) / 10_000;
  const relative = points.flatMap((point) => [
    fraction((point.x - x) / width),
    fraction((point.y - y) / height),
  ]);
  return { kind: "stroke", x, y, width, height, color, points: relative, file: "" };
}
