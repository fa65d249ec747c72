/** What is wrong with a program, and where. */

export class CodeError extends Error {
  /** Where in the program, as an offset. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
