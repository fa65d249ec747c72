/** A text that can be read for so long: Babel's parser reads some of what is nested twice at each level. */
import { CodeError } from "./code-error.ts";

/** Programs that people write are read up to four times; a second is enough for 256 KiB. */
const READS_PER_UNIT = 16;
const READS_OF_ANY_TEXT = 500_000;

const TOO_HARD = "The code takes too long to read here; nest casts and arrow functions less";

/**
 * Counts its units as they are read. Throws {@link CodeError} at the unit that is one too many: a count is the same on
 * every machine, and an isolate of the platform has no clock that goes on while it computes.
 */
class BoundedText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string) {
    super(text);
    this.#text = text;
    this.#left = READS_OF_ANY_TEXT + READS_PER_UNIT * text.length;
  }

  override charCodeAt(index: number): number {
    this.#left -= 1;
    if (this.#left < 0) throw new CodeError(TOO_HARD, index);
    return this.#text.charCodeAt(index);
  }
}

/** The text for a parser that reads it by `charCodeAt`, and uses it as any other string. */
export const boundReads = (text: string): string => new BoundedText(text) as unknown as string;
