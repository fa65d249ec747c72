/** What to do about what the service has said. */
import { AtriumError } from "atrium/server";

const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "Sign in again.",
  FORBIDDEN: "Ask an owner of the organization whether you may do this.",
  NOT_FOUND: "It may have been deleted meanwhile. Go back to the list and look.",
  CONFLICT: "Look at what is there now, and try again.",
  BAD_REQUEST: "Correct what was entered, and try again.",
  VALIDATION_ERROR: "Correct what was entered, and try again.",
  RATE_LIMITED: "Wait a few seconds, and try again.",
  INTERNAL_ERROR: "Try again. If it stays, look for the request's id in the service's logs.",
  UNREACHABLE: "Check that the service runs and that you are online, then try again.",
};

/** A sentence for whoever reads the error's message; empty where the message says it all. */
export const adviceOn = (error: Error): string =>
  error instanceof AtriumError ? (ADVICE[error.code] ?? "") : "";

export const requestIdOf = (error: Error): string | undefined =>
  error instanceof AtriumError ? error.requestId : undefined;
