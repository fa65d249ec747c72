/** Finds coordinates in what users show, and the part of the plane that they are in. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

const isPoint = (value: unknown): value is Point =>
  typeof value === "object" &&
  value !== null &&
  "x" in value &&
  "y" in value &&
  Number.isFinite(value.x) &&
  Number.isFinite(value.y);

/** The first field of a presence state that is a point, such as `cursor`, or the state itself; null without one. */
export function pointIn(state: Readonly<Record<string, unknown>> | undefined): Point | null {
  if (state === undefined) return null;
  return [state, ...Object.values(state)].find(isPoint) ?? null;
}

/** 1, 2 or 5 times a power of ten: so coarse that a map rarely changes its scale while cursors move. */
function roundUp(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return ([1, 2, 5, 10].find((step) => step * power >= length) ?? 10) * power;
}

/** The smallest and the largest coordinate of a map with all points, from 0 as far as they allow it. */
function rangeOf(values: readonly number[]): readonly [min: number, max: number] {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const max = most > 0 ? roundUp(most) : 0;
  const min = least < 0 ? -roundUp(-least) : 0;
  return min === max ? [0, 1] : [min, max];
}

/** The part of the plane to show; it has an area, whatever the points are. */
export function boundsOf(points: readonly Point[]): { readonly min: Point; readonly max: Point } {
  const [left, right] = rangeOf(points.map(({ x }) => x));
  const [top, bottom] = rangeOf(points.map(({ y }) => y));
  return { min: { x: left, y: top }, max: { x: right, y: bottom } };
}
