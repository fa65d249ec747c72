/** A text of which parts become spaces, so that all others keep their places. */

/** The ends of lines, as JavaScript knows them. */
export const LINE_BREAK = /[\n\r\u2028\u2029]/;

export class Blanks {
  readonly #text: string;
  readonly #units: string[];
  readonly #done: boolean[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#units = text.split("");
  }

  /** Blanks a part except for its line breaks, and for what is done. `first` takes the place of its first unit. */
  blank(start: number, end: number, first = " "): void {
    let unit = first;
    for (let index = start; index < end; index++) {
      if (this.#done[index] || LINE_BREAK.test(this.#text.charAt(index))) continue;
      this.replace(index, unit);
      unit = " ";
    }
  }

  /** Replaces one unit, for good. */
  replace(index: number, unit: string): void {
    this.#units[index] = unit;
    this.#done[index] = true;
  }

  /** The first place from `index` on that is neither blank nor the end of a statement. */
  skip(index: number): number {
    let at = index;
    while (/[\s;]/.test(this.#units[at] ?? "")) at += 1;
    return at;
  }

  toString(): string {
    return this.#units.join("");
  }
}
