/** Offsets on the wire: the number of the stream's family, and a position in bytes. */

const DIGITS = 16;
const OFFSET = /^(\d{16})_(\d{16})$/;

export const BEGINNING = "-1";
export const END = "now";

const padded = (number: number): string => String(number).padStart(DIGITS, "0");

/** Sorts as text as the positions do as numbers. */
export const offsetOf = (root: number, position: number): string => `${padded(root)}_${padded(position)}`;

/** Null for any other text. */
export function parseOffset(text: string): { readonly root: number; readonly position: number } | null {
  const [, root, position] = OFFSET.exec(text) ?? [];
  return root === undefined ? null : { root: Number(root), position: Number(position) };
}
