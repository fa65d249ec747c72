/** Shapes on the board: their lines as SVG paths, and how far a point is from them. Pure. */

/** Points of a shape; a longer stroke goes on as another one. */
export const MAX_POINTS = 200;

export type Point = { x: number; y: number };
export const KINDS = ["pen", "box", "oval", "arrow"] as const;
export type Kind = (typeof KINDS)[number];
/** The colors of shapes, each by its index. */
export const TINTS = ["Ink", "Blue", "Green", "Red", "Violet", "Amber"] as const;
export const inkOf = (tint: number): string => `var(--ink-${tint})`;
/** `points` are x and y in turn: a pen's path, or where the pointer went down and up. */
export type Shape = { kind: Kind; tint: number; points: number[] };

const HEAD = 16;
const OVAL_CORNERS = 40;

/** The lines that a shape consists of, each as its points. */
function linesOf({ kind, points }: Shape): Point[][] {
  const path: Point[] = [];
  for (let at = 0; at + 1 < points.length; at += 2) path.push({ x: points[at] ?? 0, y: points[at + 1] ?? 0 });
  const [from, to] = [path[0], path.at(-1)];
  if (kind === "pen" || from === undefined || to === undefined) return [path];
  if (kind === "arrow") return [[from, to], arrowHead(from, to)];
  const center = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const radius = { x: (to.x - from.x) / 2, y: (to.y - from.y) / 2 };
  const corners = kind === "box" ? 4 : OVAL_CORNERS;
  const reach = kind === "box" ? Math.SQRT2 : 1;
  const outline = Array.from({ length: corners + 1 }, (_, corner) => {
    const angle = ((2 * corner + 1) / corners) * Math.PI;
    return {
      x: center.x + radius.x * reach * Math.cos(angle),
      y: center.y + radius.y * reach * Math.sin(angle),
    };
  });
  return [outline];
}

/** Both sides of the arrow's head, through its tip. */
function arrowHead(from: Point, to: Point): Point[] {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const size = Math.min(HEAD, Math.hypot(to.x - from.x, to.y - from.y) / 2);
  const side = (turn: number) => ({
    x: to.x - size * Math.cos(angle + turn),
    y: to.y - size * Math.sin(angle + turn),
  });
  return [side(0.5), to, side(-0.5)];
}

/** The box around the points; the tip of an arrow may reach a little beyond. */
export function boundsOf({ points }: Shape) {
  const [xs, ys] = [0, 1].map((axis) => points.filter((_, index) => index % 2 === axis));
  const [x, y] = [Math.min(...(xs ?? [])), Math.min(...(ys ?? []))];
  return { x, y, width: Math.max(...(xs ?? [])) - x, height: Math.max(...(ys ?? [])) - y };
}

const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
const middle = (one: Point, other: Point): Point => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });

/** The shape as the `d` of an SVG path; what is drawn by hand is smoothed. */
export function pathOf(shape: Shape): string {
  return linesOf(shape)
    .map((line) => {
      const [first = { x: 0, y: 0 }, ...rest] = line;
      const last = rest.at(-1) ?? first;
      if (shape.kind !== "pen" || rest.length < 2) return `M${[first, ...rest].map(at).join("L")}`;
      const curves = rest.slice(0, -1).map((point, index) => {
        return `Q${at(point)} ${at(index + 2 < rest.length ? middle(point, rest[index + 1] ?? point) : last)}`;
      });
      return `M${at(first)}${curves.join("")}`;
    })
    .join("");
}

/** The distance of a point from the shape's lines. */
export function distanceTo(shape: Shape, point: Point): number {
  const distances = linesOf(shape).flatMap((line) =>
    line.map((end, index) => distanceToLine(line[index - 1] ?? end, end, point)),
  );
  return Math.min(...distances);
}

function distanceToLine(from: Point, to: Point, { x, y }: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.min(Math.max(((x - from.x) * dx + (y - from.y) * dy) / length, 0), 1);
  return Math.hypot(from.x + part * dx - x, from.y + part * dy - y);
}

/** Whether the lines of a shape touch a box: within it, or across one of its diagonals. */
export function crosses(
  shape: Shape,
  box: Point & { readonly width: number; readonly height: number },
): boolean {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const diagonals = [
    [box, { x: right, y: bottom }],
    [
      { x: right, y: box.y },
      { x: box.x, y: bottom },
    ],
  ] as const;
  const isInside = ({ x, y }: Point) => x >= box.x && x <= right && y >= box.y && y <= bottom;
  return linesOf(shape).some((line) =>
    line.some((end, index) => {
      const start = line[index - 1] ?? end;
      return isInside(end) || diagonals.some(([from, to]) => areCrossing(start, end, from, to));
    }),
  );
}

const side = (from: Point, to: Point, { x, y }: Point): number =>
  Math.sign((to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x));

const areCrossing = (a: Point, b: Point, c: Point, d: Point): boolean =>
  side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
