/** Where in the code the compiler has found what it says no to. */

export interface Problem {
  readonly message: string;
  /** From 1 on, as `column` is. */
  readonly line: number;
  readonly column: number;
}

/** Null for an error that is not about a place in the code. */
export function findProblem(error: Error | null): Problem | null {
  const [, line, column, message] = /\bline (\d+), column (\d+): (.+)$/s.exec(error?.message ?? "") ?? [];
  return message === undefined ? null : { message, line: Number(line), column: Number(column) };
}
