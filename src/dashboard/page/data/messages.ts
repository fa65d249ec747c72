/** Texts of the service, read for people: refusals and compile errors. Pure. */

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

const FIELD_FIRST = /^(\w+(?:\.\w+)*)(:?) (.+)$/s;

/** The field that a refusal's message begins with, and its problem; null when the message begins otherwise. */
export function readRefusal(message: string): FieldProblem | null {
  const [, field = "", colon, problem = ""] = FIELD_FIRST.exec(message) ?? [];
  if (field === "") return null;
  // "name is required" is a sentence; the text after a colon becomes one.
  return { field, problem: colon === "" ? message : problem.charAt(0).toUpperCase() + problem.slice(1) };
}

/** The position of a compile error in a workflow's code. */
export interface CompileError {
  readonly message: string;
  /** One-based, as `column` is. */
  readonly line: number;
  readonly column: number;
}

/** Null for an error without a position in the code. */
export function readCompileError(error: Error | null): CompileError | null {
  const [, line, column, message] = /\bline (\d+), column (\d+): (.+)$/s.exec(error?.message ?? "") ?? [];
  return message === undefined ? null : { message, line: Number(line), column: Number(column) };
}
