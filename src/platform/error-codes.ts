/** The service's error codes, defined once for the service and the SDK (spec section 7). Pure: the SDK bundles it. */

/** Each code with its HTTP status, its WebSocket close code, and whether the same request can succeed later. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, close: 4400, retryable: false },
  VALIDATION_ERROR: { status: 400, close: 4400, retryable: false },
  UNAUTHORIZED: { status: 401, close: 4401, retryable: false },
  FORBIDDEN: { status: 403, close: 4403, retryable: false },
  NOT_FOUND: { status: 404, close: 4404, retryable: false },
  CONFLICT: { status: 409, close: 4409, retryable: false },
  RATE_LIMITED: { status: 429, close: 4429, retryable: true },
  INTERNAL_ERROR: { status: 500, close: 1011, retryable: true },
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
  "Server",
] as const;
export type Module = (typeof MODULES)[number];
