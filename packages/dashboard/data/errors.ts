/** Advice on the service's errors. */
import { AtriumError } from "atrium/server";

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

/** The next step after an error; empty when its message names it, behind a semicolon. */
export const adviceOn = (error: Error): string =>
  error instanceof AtriumError && !error.message.includes(";") ? (ADVICE[error.code] ?? "") : "";
