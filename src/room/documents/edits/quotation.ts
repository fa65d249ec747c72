/** Finds a quotation in texts, and what is left of one that is not there any more. */

/** A shorter piece of a quotation says nothing about its place. */
const MIN_PIECE = 3;

interface Match {
  readonly count: number;
  /** The end of the first match. */
  readonly end: number;
  /** The longest beginning of the pattern, of at least {@link MIN_PIECE} characters, by its end in the text and its length. */
  readonly longest: { readonly end: number; readonly length: number };
}

/** A pattern that is searched in linear time (Knuth, Morris, Pratt), whatever the texts are; from their end if `isReversed`. */
export class Pattern {
  readonly #units: Uint16Array;
  /** With which any piece begins that says something; empty if reversed. */
  readonly #beginning: string;
  readonly #isReversed: boolean;
  /** For each length of a beginning, the longest shorter beginning with which it ends. */
  readonly #borders: Int32Array;

  constructor(pattern: string, isReversed = false) {
    const units = Uint16Array.from({ length: pattern.length }, (_, at) => pattern.charCodeAt(at));
    this.#units = isReversed ? units.reverse() : units;
    this.#isReversed = isReversed;
    this.#beginning = isReversed ? "" : pattern.slice(0, MIN_PIECE);
    this.#borders = new Int32Array(pattern.length + 1);
    for (let at = 1, length = 0; at < pattern.length; at += 1) {
      while (length > 0 && units[length] !== units[at]) length = this.#borders[length] ?? 0;
      if (units[length] === units[at]) length += 1;
      this.#borders[at + 1] = length;
    }
  }

  /** Searches a text; matches may overlap. Its loop runs for each character of the document and each quotation. */
  search(text: string): Match {
    const [pattern, borders] = [this.#units, this.#borders];
    const [first, step] = this.#isReversed ? [text.length - 1, -1] : [0, 1];
    let [count, end, length, longestEnd, longest] = [0, -1, 0, 0, 0];
    for (let at = 0; at < text.length; at += 1) {
      if (length === 0 && this.#beginning !== "") {
        at = text.indexOf(this.#beginning, at);
        if (at === -1) break;
      }
      const unit = text.charCodeAt(first + at * step);
      while (length > 0 && pattern[length] !== unit) length = borders[length] ?? 0;
      if (pattern[length] === unit) length += 1;
      if (length > longest) {
        longest = length;
        longestEnd = at + 1;
      }
      if (length !== pattern.length) continue;
      if (count === 0) end = at + 1;
      count += 1;
      length = borders[length] ?? 0;
    }
    return { count, end, longest: { end: longestEnd, length: longest } };
  }
}

/** Where the longest beginning or end of a text stands among these; null when only little of it does. */
export function findPiece(texts: readonly string[], quoted: string): { node: number; index: number } | null {
  let best = { length: MIN_PIECE - 1, node: -1, index: 0 };
  for (const isReversed of [false, true]) {
    const pattern = new Pattern(quoted, isReversed);
    for (const [node, text] of texts.entries()) {
      const { end, length } = pattern.search(text).longest;
      if (length > best.length) best = { length, node, index: isReversed ? text.length - end : end };
    }
  }
  return best.node === -1 ? null : best;
}
