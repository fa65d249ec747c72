/** The threads of a board: what each is pinned to, and what the page is doing with them. */
import type { Comment } from "atrium/client";
import { placeOf, readColor } from "../room/model.ts";
import type { Point } from "../room/shape.ts";
import type { Box, PastBoard } from "../room/things.ts";

/** Where a thread is pinned: a point of the board, or of a thing, with which it moves. Any client can write anything. */
export interface Anchor extends Point {
  /** The thing's id, and the distance from its corner; null for a point of the board. */
  readonly thing: { readonly id: string; readonly by: Point } | null;
  readonly color: string;
}

export interface Thread {
  readonly id: string;
  /** Null for a thread that is pinned to nothing. */
  readonly anchor: Anchor | null;
  readonly isResolved: boolean;
  /** Oldest first. */
  readonly comments: readonly [Comment, ...Comment[]];
}

/** The visitor's action: chooses a place for a comment, writes the first one there, or reads a thread. */
type Focus =
  | { readonly type: "placing" }
  | { readonly type: "draft"; readonly anchor: Anchor }
  | { readonly type: "thread"; readonly id: string; readonly isRevealed: boolean }
  | null;

export interface FocusProps {
  readonly focus: Focus;
  setFocus(focus: Focus): void;
}

export interface PanelProps extends FocusProps {
  close(): void;
  /** Shows a past state of the board; null for the present one. */
  setPast(past: PastBoard | null): void;
}

function readAnchor(anchor: unknown): Anchor | null {
  const { x, y, thing, color } = Object(anchor);
  if (typeof x !== "number" || typeof y !== "number") return null;
  const { id, by } = Object(thing);
  const isOfThing = typeof id === "string";
  return { ...placeOf({ x, y }), thing: isOfThing ? { id, by: placeOf(by) } : null, color: readColor(color) };
}

/** The place of a pin: its thing's, as long as there is one. */
export function pinPlace({ x, y, thing }: Anchor, boxOf: (id: string) => Box | null): Point {
  const box = thing && boxOf(thing.id);
  return box && thing ? { x: box.x + thing.by.x, y: box.y + thing.by.y } : { x, y };
}

/** Comments as the log has them, oldest first. */
export const commentsOf = (logged: PastBoard["comments"]): readonly Comment[] =>
  (Object.values(logged) as Comment[]).toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));

export function threadsOf(comments: readonly Comment[]): readonly Thread[] {
  const groups = Map.groupBy(comments, ({ thread_id }) => thread_id);
  return [...groups].flatMap(([id, [first, ...replies]]) => {
    if (first === undefined) return [];
    return [
      { id, anchor: readAnchor(first.anchor), isResolved: first.resolved, comments: [first, ...replies] },
    ];
  });
}
