/** The presence of users for readers: its coordinates and summary, and places on a map. Pure. */

interface Point {
  readonly x: number;
  readonly y: number;
}

type State = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is State => typeof value === "object" && value !== null;

const isPoint = (value: unknown): value is State & Point =>
  isObject(value) && Number.isFinite(value.x) && Number.isFinite(value.y);

/** The first field of a presence state that is a point, such as `cursor`, or the state itself; null without one. */
export function pointIn(state: State | undefined): Point | null {
  if (state === undefined) return null;
  return [state, ...Object.values(state)].find(isPoint) ?? null;
}

const MAX_VALUE_CHARACTERS = 40;
const MAX_DEPTH = 2;

/** `isTyping` as "typing", `selectedIds` as "selected ids". */
const wordsOf = (key: string): string =>
  key
    .replaceAll(/(?<=[a-z\d])([A-Z])|[_-]+/g, " $1")
    .toLowerCase()
    .replace(/^(is|has) /, "");

function phraseOf(key: string, value: unknown, depth: number): string {
  const name = wordsOf(key);
  if (value === true) return name;
  if (Array.isArray(value)) return value.length === 0 ? "" : `${name}: ${value.length}`;
  if (isPoint(value)) return `${name} ${summaryOf(value)}`;
  if (isObject(value)) return `${name} (${depth < MAX_DEPTH ? summaryOf(value, depth + 1) : "…"})`;
  const text = value === false ? "" : String(value ?? "");
  const shown = text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
  return text === "" ? "" : `${name}: ${shown}`;
}

/** Such as "tool: pencil · cursor at 120, 40"; empty for a state that shows nothing. Colors are left out. */
export function summaryOf(state: State, depth = 1): string {
  if (isPoint(state)) return `at ${Math.round(state.x)}, ${Math.round(state.y)}`;
  const phrases = Object.entries(state).map(([key, value]) => key !== "color" && phraseOf(key, value, depth));
  return phrases.filter(Boolean).join(" · ");
}

const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** One of a few numbers times a power of ten: so coarse that a map rarely changes its scale while cursors move. */
function roundUp(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return (STEPS.find((step) => step * power >= length) ?? 10) * power;
}

/** The smallest and the largest coordinate of a map with all points, from 0 as far as they allow it. */
function rangeOf(values: readonly number[]): readonly [min: number, max: number] {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const max = most > 0 ? roundUp(most) : 0;
  const min = least < 0 ? -roundUp(-least) : 0;
  return min === max ? [0, 1] : [min, max];
}

/** The part of the plane to show. Its area is never empty. */
export function boundsOf(points: readonly Point[]): { readonly min: Point; readonly max: Point } {
  const [left, right] = rangeOf(points.map(({ x }) => x));
  const [top, bottom] = rangeOf(points.map(({ y }) => y));
  return { min: { x: left, y: top }, max: { x: right, y: bottom } };
}

interface Cursor {
  readonly id: string;
  readonly name: string;
  readonly point: Point;
}

/** A rectangle of the map in pixels. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Cursors that are too close to each other to be drawn apart, with their common label. */
interface Marker<Shown extends Cursor> {
  readonly cursors: readonly Shown[];
  readonly label: string;
  /** The place of the round picture. */
  readonly face: Box;
  /** The place of the label; null where none is free. */
  readonly name: Box | null;
}

const FACE_PX = 26;
const GAP_PX = 4;
const NAME_HEIGHT_PX = 20;
const MAX_NAME_PX = 120;
/** A bit more than letters take on average: longer names are cut with an ellipsis. */
const LETTER_PX = 7.5;
const NAME_PADDING_PX = 10;

const overlaps = (one: Box, other: Box): boolean =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height;

/** The places for a label around a face, the best first. */
function placesAround({ left, top }: Box, label: string): Box[] {
  const width = Math.min(MAX_NAME_PX, Math.ceil(label.length * LETTER_PX) + NAME_PADDING_PX);
  const size = { width, height: NAME_HEIGHT_PX };
  const [middle, center] = [top + (FACE_PX - NAME_HEIGHT_PX) / 2, left + (FACE_PX - width) / 2];
  return [
    { left: left + FACE_PX + GAP_PX, top: middle, ...size },
    { left: left - GAP_PX - width, top: middle, ...size },
    { left: center, top: top + FACE_PX + GAP_PX, ...size },
    { left: center, top: top - GAP_PX - NAME_HEIGHT_PX, ...size },
  ];
}

const along = (share: number, length: number) => GAP_PX + share * (length - FACE_PX - 2 * GAP_PX);

/** The left upper corner of a face whose cursor is at a point. */
const cornerOf = (
  point: Point,
  { min, max }: ReturnType<typeof boundsOf>,
  map: Pick<Box, "width" | "height">,
) => ({
  left: along((point.x - min.x) / (max.x - min.x), map.width),
  top: along((point.y - min.y) / (max.y - min.y), map.height),
});

/** The place of a point on a map of a size in pixels. */
export function centerOf(...place: Parameters<typeof cornerOf>): Point {
  const { left, top } = cornerOf(...place);
  return { x: left + FACE_PX / 2, y: top + FACE_PX / 2 };
}

/** Places cursors on a map of a size in pixels: no face covers another one, and no label a face or a label. */
export function arrange<Shown extends Cursor>(
  cursors: readonly Shown[],
  bounds: ReturnType<typeof boundsOf>,
  map: Pick<Box, "width" | "height">,
): Marker<Shown>[] {
  const groups: { readonly face: Box; readonly cursors: Shown[] }[] = [];
  for (const cursor of cursors) {
    const face = { ...cornerOf(cursor.point, bounds, map), ...{ width: FACE_PX, height: FACE_PX } };
    const near = groups.find((group) => overlaps(group.face, face));
    if (near === undefined) groups.push({ face, cursors: [cursor] });
    else near.cursors.push(cursor);
  }
  const taken = groups.map(({ face }) => face);
  return groups.map((group) => {
    const [first] = group.cursors;
    const more = group.cursors.length - 1;
    const label = more === 0 ? (first?.name ?? "") : `${first?.name} +${more}`;
    const isFree = (place: Box) =>
      place.left >= 0 &&
      place.top >= 0 &&
      place.left + place.width <= map.width &&
      place.top + place.height <= map.height &&
      !taken.some((other) => overlaps(place, other));
    const name = placesAround(group.face, label).find(isFree) ?? null;
    if (name !== null) taken.push(name);
    return { ...group, label, name };
  });
}
