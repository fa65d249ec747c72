/** Texts of the service, read for people: refusals, compile errors and lists of names. Pure. */

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

const FIELD_FIRST = /^(\w+(?:\.[\w-]+)*)(:?) (.+)$/s;

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

const MAX_NAMED = 3;

/** Joins names, such as "Ada, Bo, Cleo and 2 more". `total` may exceed the given names. */
export function joinNames(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MAX_NAMED);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
