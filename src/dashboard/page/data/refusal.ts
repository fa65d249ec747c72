/** Reads the message of a refusal: the service begins it with the name of the field that it concerns. */

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

const FIELD_FIRST = /^(\w+(?:\.\w+)*)(:?) (.+)$/s;

/** What may be a field, and what is wrong with it; null when the message begins otherwise. */
export function readRefusal(message: string): FieldProblem | null {
  const [, field = "", colon, problem = ""] = FIELD_FIRST.exec(message) ?? [];
  if (field === "") return null;
  // "name is required" is a sentence; what follows a colon becomes one.
  return { field, problem: colon === "" ? message : problem.charAt(0).toUpperCase() + problem.slice(1) };
}
