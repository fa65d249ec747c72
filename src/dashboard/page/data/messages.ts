/** Texts of the service, read for people: refusals, compile errors, operations. Pure. */

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

const ACRONYMS: Readonly<Record<string, string>> = { api: "API" };

/** An operation of the API in words: `rotateWebhookSecret` is "Rotate webhook secret". */
export function operationName(operation: string): string {
  const words = operation
    .replaceAll(/([A-Z])/g, " $1")
    .split(" ")
    .map((word) => ACRONYMS[word.toLowerCase()] ?? word.toLowerCase());
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
