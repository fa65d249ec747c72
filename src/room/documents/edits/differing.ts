/** The part in which two texts differ, in whole words: half a word is what no one has written. */
import { splitsPair } from "./text-content.ts";

/** The part of a stretch that a text replaces, and the text that replaces it. */
interface Difference {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Leaves out what both begin and end with, but no part of a word. */
export function differing(old: string, text: string): Difference {
  const max = Math.min(old.length, text.length);
  let start = 0;
  while (start < max && old[start] === text[start]) start += 1;
  while (isWithin(old, start) || isWithin(text, start)) start -= 1;
  let same = 0;
  while (same < max - start && old[old.length - 1 - same] === text[text.length - 1 - same]) same += 1;
  while (isWithin(old, old.length - same) || isWithin(text, text.length - same)) same -= 1;
  return { start, end: old.length - same, text: text.slice(start, text.length - same) };
}

const LETTER = /^[\p{L}\p{N}\p{M}]$/u;
/** Scripts without spaces between words. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
/** Belong to the character before them: accents, and parts of emoji. */
const CONTINUING = /^[\p{M}\p{EMod}\u200D]$/u;
const JOINER = "\u200D";

/** Whether an index halves a character or a word. */
function isWithin(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  if (splitsPair(text, index)) return true;
  const after = String.fromCodePoint(text.codePointAt(index) ?? 0);
  const before = String.fromCodePoint(
    text.codePointAt(splitsPair(text, index - 1) ? index - 2 : index - 1) ?? 0,
  );
  if (CONTINUING.test(after) || before === JOINER) return true;
  return LETTER.test(before) && LETTER.test(after) && !UNSPACED.test(before) && !UNSPACED.test(after);
}
