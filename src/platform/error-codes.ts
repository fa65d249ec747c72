/** The service's error codes (spec section 7). */
import { CLOSE_CODES } from "./close-codes.ts";

/** Each code with its HTTP status and its WebSocket close code. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, close: CLOSE_CODES.BAD_REQUEST },
  VALIDATION_ERROR: { status: 400, close: CLOSE_CODES.VALIDATION_ERROR },
  UNAUTHORIZED: { status: 401, close: CLOSE_CODES.UNAUTHORIZED },
  FORBIDDEN: { status: 403, close: CLOSE_CODES.FORBIDDEN },
  NOT_FOUND: { status: 404, close: CLOSE_CODES.NOT_FOUND },
  CONFLICT: { status: 409, close: CLOSE_CODES.CONFLICT },
  GONE: { status: 410, close: CLOSE_CODES.GONE },
  RATE_LIMITED: { status: 429, close: CLOSE_CODES.RATE_LIMITED },
  INTERNAL_ERROR: { status: 500, close: 1011 },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The parts of the service that report errors: `error.module` in the envelope. */
export const MODULES = [
  "Auth",
  "Accounts",
  "Rooms",
  "Users",
  "Files",
  "Webhooks",
  "Workflows",
  "Events",
  "Server",
] as const;
export type Module = (typeof MODULES)[number];
