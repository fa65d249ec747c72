/** The service's error class, for every request that is refused on purpose. */
import { CLOSE_CODES } from "./close-codes.ts";

/** A refusal. Its message is written for the caller and shown unchanged. */
export class AppError extends Error {
  readonly module: Module;
  readonly code: ErrorCode;
  /** Seconds to wait before a retry, sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(module: Module, code: ErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = "AppError";
    this.module = module;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The most common refusal: the thing does not exist, or belongs to another organization. */
export const notFound = (module: Module, what: string): AppError =>
  new AppError(module, "NOT_FOUND", `${what} not found`);

/** The innermost cause, for logs: wrapping errors may quote what users wrote. */
export function innermostCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  return cause;
}

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

export const MODULES = [
  "Auth",
  "Accounts",
  "Rooms",
  "Users",
  "Identities",
  "Access",
  "Inbox",
  "Files",
  "Webhooks",
  "Workflows",
  "Events",
  "Server",
] as const;
export type Module = (typeof MODULES)[number];
