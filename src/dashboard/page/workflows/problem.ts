/** The position of a compile error in a workflow's code. */

export interface Problem {
  readonly message: string;
  /** One-based, as `column` is. */
  readonly line: number;
  readonly column: number;
}

/** Null for an error without a position in the code. */
export function findProblem(error: Error | null): Problem | null {
  const [, line, column, message] = /\bline (\d+), column (\d+): (.+)$/s.exec(error?.message ?? "") ?? [];
  return message === undefined ? null : { message, line: Number(line), column: Number(column) };
}
