/** Advice on the service's errors. */
import { AtriumError } from "atrium/server";

/** Reads the message of a refusal: the service begins it with the name of the field that it concerns. */
interface FieldProblem {
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

const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "Sign in again.",
  FORBIDDEN: "Ask an owner of the organization for access.",
  NOT_FOUND: "It may have been deleted. Go back to the list to check.",
  CONFLICT: "Review the current state and try again.",
  GONE: "Start again without the cursor.",
  BAD_REQUEST: "Correct your input and try again.",
  VALIDATION_ERROR: "Correct your input and try again.",
  RATE_LIMITED: "Wait a few seconds and try again.",
  INTERNAL_ERROR: "Try again. If the error persists, search the service's logs for the request ID.",
  UNREACHABLE: "Check your connection and that the service is running, then try again.",
};

/** What to do about an error; empty when its message says it already. */
export const adviceOn = (error: Error): string =>
  error instanceof AtriumError ? (ADVICE[error.code] ?? "") : "";

/** The request ID of an error whose cause only the service's log knows. */
export const requestIdOf = (error: Error): string | undefined =>
  error instanceof AtriumError && error.code === "INTERNAL_ERROR" ? error.requestId : undefined;

/** The field that a refusal concerns and what is wrong with it; null for another error. */
export const fieldProblemOf = (error: Error | null): FieldProblem | null =>
  error instanceof AtriumError && error.code !== "INTERNAL_ERROR" ? readRefusal(error.message) : null;
