/** Finds its way in text as an update has it, in UTF-8, where operations count UTF-16. */
import type { Pieces } from "./pieces.ts";

/** Where so many units after `at` end, and whether in the middle of a character; then the position is behind it. */
export function walkText(bytes: Uint8Array, at: number, units: number): [end: number, isBroken: boolean] {
  let [end, left] = [at, units];
  while (left > 0) {
    const lead = bytes[end] ?? 0;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    end += length;
    left -= length === 4 ? 2 : 1;
  }
  return [end, left < 0];
}

/** What Yjs makes of each half of a character. */
const HALF = "\uFFFD";
/** As lib0 reads strings. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a piece, or its first so many units. */
export function textOf(pieces: Pieces, piece: number, units: number): string {
  const { bytes, at, isBroken } = pieces;
  const [start, hasHalf] = [at[piece] ?? 0, isBroken[piece] === 1];
  const [end, endsInHalf] = walkText(bytes, start, units - (hasHalf ? 1 : 0));
  const text = utf8.decode(bytes.subarray(start, endsInHalf ? end - 4 : end));
  return `${hasHalf ? HALF : ""}${text}${endsInHalf ? HALF : ""}`;
}
