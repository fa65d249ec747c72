/** What is drawn on the board. */

/** Points of a shape; a longer stroke goes on as another one. */
export const MAX_POINTS = 200;

export type Point = { x: number; y: number };
export const KINDS = ["pen", "box", "oval", "arrow"] as const;
export type Kind = (typeof KINDS)[number];
/** The colors of shapes, each by its index. */
export const TINTS = ["Ink", "Blue", "Green", "Red", "Violet", "Amber"] as const;
/** `points` are x and y in turn: a pen's path, or where the pointer went down and up. */
export type Shape = { kind: Kind; tint: number; points: number[] };
