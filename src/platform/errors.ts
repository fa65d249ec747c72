/** What can go wrong, said once: each code with its HTTP status and WebSocket close code (spec section 7). */

/** The service's error codes, and what each means at either door. */
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

/** The part of the service that answers for an error: `error.module` in the envelope. */
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

/** An answer that is not a success, on purpose: its message is written for the caller and shown as it is. */
export class AppError extends Error {
  readonly module: Module;
  readonly code: ErrorCode;
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(module: Module, code: ErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = "AppError";
    this.module = module;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Shorthand for the most common refusal: what was asked for is not there, or not the caller's. */
export const notFound = (module: Module, what: string): AppError =>
  new AppError(module, "NOT_FOUND", `${what} not found`);

/**
 * What an error comes down to. Logs tell this and not the layers above it: drizzle's own message quotes a
 * statement's parameters, which are what users wrote.
 */
export function innermostCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  return cause;
}
