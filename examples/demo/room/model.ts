/** The board's notes, shapes and presence, parsed defensively: any client of the room can send anything. */
import { defineStores } from "atrium/client";
import type { Member } from "atrium/react";
import { KINDS, MAX_POINTS, type Point, type Shape, TINTS } from "./shape.ts";
import { textOf } from "./text.ts";

const NUMBER = { type: "number", required: true } as const;
const TEXT = { type: "string", default: "" } as const;
export const STORES = defineStores({
  notes: {
    x: NUMBER,
    y: NUMBER,
    text: TEXT,
    picture: TEXT,
    front: { type: "number", default: 0 },
    width: { type: "number" },
    paper: { type: "number" },
  },
  shapes: {
    kind: { type: "string", required: true },
    tint: NUMBER,
    points: { type: "array", required: true },
    x: { type: "number", default: 0 },
    y: { type: "number", default: 0 },
  },
});

/** In pixels at a zoom of 1, like all points of the board. */
export const NOTE_SIZE = { width: 200, height: 168 };
/** The bounds of a note's width. */
export const WIDTHS = { least: 120, most: 480 };
/** The colors of notes, each by its index. */
export const PAPERS = ["Yellow", "Blue", "Green", "Pink", "Violet"] as const;
/** The edges around a note's text, a line of it, and the width of a wide letter. */
const [EDGES, LINE, LETTER] = [24, 22.4, 9.7];
/** No item is further from the board's middle, nor further in front. */
export const FAR = 50_000;
/** A participant shows no more of what they have selected: presence is small. */
export const MAX_SHOWN = 80;

/**
 * `picture` is a file's key, or empty. Of two notes, the one with the higher `front` lies above the other. `paper` is an
 * index of {@link PAPERS}; null where its key chooses.
 */
export type Note = Point & {
  text: string;
  picture: string;
  front: number;
  width: number;
  paper: number | null;
};
/** The presence of a participant, as others see it: the pointer, what is selected, dragged, drawn, and the id of what is written in. */
export type Presence = {
  cursor: Point | null;
  color: string;
  /** The ids of items. */
  selection: string[];
  /** Where the first selected item is while all of them are dragged. */
  drag: Point | null;
  /** The width of the selected note while it is changed. */
  width: number | null;
  draft: Shape | null;
  typing: string | null;
};

const fieldsOf = (value: unknown): Record<string, unknown> => (typeof value === "object" ? { ...value } : {});
const within = (value: unknown) =>
  typeof value === "number" ? Math.min(Math.max(Math.round(value), -FAR), FAR) : 0;

/** The key of a file that was uploaded; other texts have no address. */
const FILE_KEY = /^[0-9a-f-]{36}\/[\w-]{22}\/uploads\/[^/]+$/;
const pictureOf = (value: unknown): string => {
  const key = textOf(value);
  return FILE_KEY.test(key) && key.isWellFormed() ? key : "";
};

/** The point of the board that the value names, if any: each coordinate on its own. */
export function placeOf(value: unknown): Point {
  const { x, y } = fieldsOf(value);
  return { x: within(x), y: within(y) };
}

/** A width that a note can have; the usual one for what is no number. */
export const widthOf = (value: unknown): number =>
  typeof value === "number" && !Number.isNaN(value)
    ? Math.min(Math.max(Math.round(value), WIDTHS.least), WIDTHS.most)
    : NOTE_SIZE.width;

export function readNote(value: unknown): Note {
  const { text, picture, front, width, paper } = fieldsOf(value);
  return {
    ...placeOf(value),
    text: textOf(text),
    picture: pictureOf(picture),
    front: within(front),
    width: widthOf(width),
    paper: typeof paper === "number" && paper in PAPERS ? paper : null,
  };
}

/** The index of the paper of a note with this key; a key begins with a number. */
export const paperOf = (key: string, { paper }: Note): number =>
  paper ?? Math.abs(Number.parseInt(key, 10) || 0) % PAPERS.length;

/** The lines that a paragraph fills, so many letters each: a word that does not fit begins a new one. */
function linesOf(paragraph: string, letters: number): number {
  let [lines, filled] = [1, 0];
  for (const { length } of paragraph.split(" ")) {
    if (filled > 0 && filled + length > letters) [lines, filled] = [lines + 1, 0];
    const broken = Math.max(Math.ceil(length / letters) - 1, 0);
    lines += broken;
    filled += length - broken * letters + 1;
  }
  return lines;
}

/** The height of a note: all of its text has room. A guess from its letters, so that it is the same in every window. */
export function heightOf({ text, width }: Note): number {
  const letters = Math.floor((width - EDGES) / LETTER);
  const lines = text.split("\n").reduce((sum, each) => sum + linesOf(each, letters), 0);
  return Math.max(NOTE_SIZE.height, Math.ceil(EDGES + LINE * lines));
}

/** The `front` of a note that comes to lie above these; its own, if it does already. */
export function frontAbove(notes: Readonly<Record<string, unknown>>, key = ""): number {
  const others = Object.entries(notes).flatMap(([each, value]) =>
    each === key ? [] : readNote(value).front,
  );
  return Math.max(readNote(notes[key]).front, 1 + Math.max(-1, ...others));
}

/** Null for what is no shape. Its points are stored relative to its place, which moves it. */
export function readShape(value: unknown): Shape | null {
  const { kind, tint, points } = fieldsOf(value);
  const { x, y } = placeOf(value);
  const known = KINDS.find((each) => each === kind);
  if (known === undefined || !Array.isArray(points) || points.length < 4) return null;
  const isTint = typeof tint === "number" && tint in TINTS;
  const placed = points
    .slice(0, 2 * MAX_POINTS)
    .map((each, index) => within(within(each) + (index % 2 === 0 ? x : y)));
  return { kind: known, tint: isTint ? tint : 0, points: placed };
}

const readColor = (value: unknown): string =>
  /^#[0-9a-f]{6}$/i.exec(typeof value === "string" ? value : "")?.[0] ?? "#475569";

export type Participant = ReturnType<typeof parseParticipant>;
function parseParticipant({ user: { id, name }, presence }: Member) {
  const { color, selection, drag, width, draft, typing } = presence ?? {};
  return {
    id,
    name,
    color: readColor(color),
    selection: Array.isArray(selection) ? selection.slice(0, MAX_SHOWN).map(textOf) : [],
    drag: drag ? placeOf(drag) : null,
    width: typeof width === "number" ? widthOf(width) : null,
    draft: readShape(draft),
    typing: textOf(typing),
  };
}

/** A member is the same object until something of it changes. */
const parsed = new WeakMap<Member, Participant>();
export function readParticipant(member: Member): Participant {
  const participant = parsed.get(member) ?? parseParticipant(member);
  parsed.set(member, participant);
  return participant;
}
