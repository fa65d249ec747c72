/** The board's notes, shapes and presence, parsed defensively: any client of the room can send anything. */
import { defineStores } from "atrium/client";
import type { Member } from "atrium/react";
import { KINDS, MAX_POINTS, type Point, type Shape, TINTS } from "./shape.ts";

const NUMBER = { type: "number", required: true } as const;
const TEXT = { type: "string", default: "" } as const;
export const STORES = defineStores({
  notes: { x: NUMBER, y: NUMBER, text: TEXT, picture: TEXT },
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
/** No item is further from the board's middle. */
const FAR = 50_000;
export const MAX_LENGTH = 500;
/** A participant shows no more of what they have selected: presence is small. */
export const MAX_SHOWN = 80;

export type Note = Point & { text: string; picture: string }; // a file's key, or empty
/** The presence of a participant, as others see it: the pointer, what is selected, dragged, drawn, and the id of what is written in. */
export type Presence = {
  cursor: Point | null;
  /** The ids of items. */
  selection: string[];
  /** Where the first selected item is while all of them are dragged. */
  drag: Point | null;
  draft: Shape | null;
  typing: string | null;
};

const fieldsOf = (value: unknown): Record<string, unknown> => (typeof value === "object" ? { ...value } : {});
const within = (value: unknown) => Math.min(Math.max(Math.round(Number(value) || 0), -FAR), FAR);
const textOf = (value: unknown) => (typeof value === "string" ? value.slice(0, MAX_LENGTH) : "");

/** The point of the board that the value names, if any: each coordinate on its own. */
export function placeOf(value: unknown): Point {
  const { x, y } = fieldsOf(value);
  return { x: within(x), y: within(y) };
}

export function readNote(value: unknown): Note {
  const { text, picture } = fieldsOf(value);
  return { ...placeOf(value), text: textOf(text), picture: textOf(picture) };
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
  const { color, selection, drag, draft, typing } = presence ?? {};
  return {
    id,
    name,
    color: readColor(color),
    selection: Array.isArray(selection) ? selection.slice(0, MAX_SHOWN).map(textOf) : [],
    drag: drag ? placeOf(drag) : null,
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
