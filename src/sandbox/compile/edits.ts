/** Changes to a text, noted in any order by the offsets of the text as it was, and made all at once. */

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Of changes at one place, what closes something comes first, innermost first, then what opens, outermost first. */
export class Edits {
  readonly #opening: Edit[] = [];
  readonly #closing: Edit[] = [];

  /** Outer things are to be noted before the inner ones. */
  insert(offset: number, text: string): void {
    this.#opening.push({ start: offset, end: offset, text });
  }

  replace(start: number, end: number, text: string): void {
    this.#opening.push({ start, end, text });
  }

  /** Puts something around a part. Outer parts are to be noted before the inner ones. */
  wrap(start: number, end: number, before: string, after: string): void {
    this.insert(start, before);
    this.#closing.push({ start: end, end, text: after });
  }

  /** The changed text. */
  apply(text: string): string {
    const edits = [...this.#closing.toReversed(), ...this.#opening].sort((a, b) => a.start - b.start);
    const pieces: string[] = [];
    let done = 0;
    for (const { start, end, text: inserted } of edits) {
      pieces.push(text.slice(done, start), inserted);
      done = end;
    }
    pieces.push(text.slice(done));
    return pieces.join("");
  }
}
