/** What is wrong with a program, and where. */

export class CodeError extends Error {
  /** Where in the program, as an offset. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export const NESTED_TOO_DEEPLY = "The code is nested too deeply";

/** True when an error says that a parser used up its stack. */
export const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && /\bstack\b/i.test(error.message);

/** Something that is known and not supported: says more than any other error of the same program. */
export class UnsupportedError extends CodeError {}
