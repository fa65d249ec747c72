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
  },
});

/** In pixels at a zoom of 1, like all points of the board. */
export const NOTE_SIZE = { width: 200, height: 168 };
/** No thing is further from the board's middle. */
const FAR = 50_000;
export const MAX_LENGTH = 500;

export type Note = Point & { text: string; picture: string }; // a file's key, or empty
/** A participant's presence: the pointer, the note being dragged, the shape being drawn, and the id of what is written in. */
export type Presence = {
  cursor: Point | null;
  drag: (Point & { id: string }) | null;
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

/** Null for what is no shape. */
export function readShape(value: unknown): Shape | null {
  const { kind, tint, points } = fieldsOf(value);
  const known = KINDS.find((each) => each === kind);
  if (known === undefined || !Array.isArray(points) || points.length < 4) return null;
  const isTint = typeof tint === "number" && tint in TINTS;
  return { kind: known, tint: isTint ? tint : 0, points: points.slice(0, 2 * MAX_POINTS).map(within) };
}

export type Participant = ReturnType<typeof readParticipant>;
export function readParticipant({ user: { id, name }, presence }: Member) {
  const { color, cursor, drag, draft, typing } = presence ?? {};
  const safeColor = /^#[0-9a-f]{6}$/i.exec(typeof color === "string" ? color : "")?.[0] ?? "#475569";
  return {
    id,
    name,
    color: safeColor,
    cursor: cursor ? placeOf(cursor) : null,
    drag: drag ? { ...placeOf(drag), id: textOf(fieldsOf(drag).id) } : null,
    draft: readShape(draft),
    typing: textOf(typing),
  };
}
