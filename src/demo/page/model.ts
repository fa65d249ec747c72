/** The board's notes and presence, parsed defensively: in a public room, any client can send anything. */
import { defineStores } from "atrium/client";
import type { Member } from "atrium/react";

const NUMBER = { type: "number", required: true } as const;
const TEXT = { type: "string", default: "" } as const;
export const STORES = defineStores({ notes: { x: NUMBER, y: NUMBER, text: TEXT, picture: TEXT } });

/** In pixels, like all points on it. */
export const BOARD = { width: 2400, height: 1600 };
export const MAX_LENGTH = 500;

export type Point = { x: number; y: number };
export type Note = Point & { text: string; picture: string }; // a file's key, or empty
/** A participant's presence: the pointer, and the note being dragged with its current place. */
export type Presence = { cursor: Point | null; drag: (Point & { id: string }) | null };

const fieldsOf = (value: unknown): Record<string, unknown> => (typeof value === "object" ? { ...value } : {});
const within = (value: unknown, max: number) => Math.min(Math.max(Math.round(Number(value) || 0), 0), max);

/** The nearest point at which something of this size fits on the board. */
export function placeOf(value: unknown, { width, height } = { width: 0, height: 0 }): Point {
  const { x, y } = fieldsOf(value);
  return { x: within(x, BOARD.width - width), y: within(y, BOARD.height - height) };
}
export const placeNote = (value: unknown): Point => placeOf(value, { width: 200, height: 168 });

export function readNote(value: unknown): Note {
  const { text, picture } = fieldsOf(value);
  const textOf = (field: unknown) => (typeof field === "string" ? field.slice(0, MAX_LENGTH) : "");
  return { ...placeNote(value), text: textOf(text), picture: textOf(picture) };
}

export type Participant = ReturnType<typeof readParticipant>;
export function readParticipant({ user: { id, name }, presence }: Member) {
  const { color, cursor, drag } = presence ?? {};
  const safeColor = /^#[0-9a-f]{6}$/i.exec(typeof color === "string" ? color : "")?.[0] ?? "#475569";
  const safeDrag = drag ? { ...placeNote(drag), id: fieldsOf(drag).id } : null;
  return { id, name, color: safeColor, cursor: cursor ? placeOf(cursor) : null, drag: safeDrag };
}
