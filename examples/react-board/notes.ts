/** What the room's store of notes holds, and what users show of themselves. Other clients can write anything. */
import { defineStores } from "atrium/client";
import type { Member } from "atrium/react";

const NUMBER = { type: "number", required: true } as const;
/** Checks what this client writes. */
export const STORES = defineStores({
  notes: { x: NUMBER, y: NUMBER, text: { type: "string", default: "" } },
});

export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Note extends Point {
  readonly text: string;
}
export interface Shown {
  readonly cursor: Point | null;
}

function readPoint(value: unknown): Point | null {
  if (typeof value !== "object" || value === null || !("x" in value && "y" in value)) return null;
  return { x: Number(value.x), y: Number(value.y) };
}

export function readNote(value: unknown): Note | null {
  const point = readPoint(value);
  const { text }: { text?: unknown } = { ...Object(value) };
  return point && { ...point, text: typeof text === "string" ? text : "" };
}

export const readCursor = ({ presence }: Member): Point | null => readPoint(presence?.cursor);
