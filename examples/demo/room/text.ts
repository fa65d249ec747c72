/** Texts of the board, which any client of the room can replace by anything. Pure. */

export const MAX_LENGTH = 500;

/** Half of a character, where a text was cut. */
const HALF = /[\ud800-\udbff]$/;

/** A text, cut after a whole character; empty for what is none. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value.slice(0, MAX_LENGTH).replace(HALF, "") : "";
