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

/** The innermost cause, for logs: wrapping errors may quote text of users. */
export function innermostCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  return cause;
}

const MAX_CAUSES = 5;

/** The failures of work that went on after each of them, as one error that has each cause once. */
export function combined(failures: readonly unknown[]): unknown {
  if (failures.length === 1) return failures[0];
  const causes = [...new Set(failures.map((failure) => String(innermostCause(failure))))];
  const left = causes.length > MAX_CAUSES ? [`${causes.length - MAX_CAUSES} more`] : [];
  return new AggregateError(failures, [...causes.slice(0, MAX_CAUSES), ...left].join("; "));
}

const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError];

/** True for an error of the code itself, which no retry mends. Also one of an object that was called. */
export function isDefect(error: unknown): boolean {
  const cause = innermostCause(error);
  if (cause instanceof AggregateError) return cause.errors.some(isDefect);
  // The platform throws a TypeError as well where an object still runs, or may no longer run, the version before.
  const isOfUpdate = cause instanceof Error && /does not implement|code has been updated/.test(cause.message);
  return DEFECTS.some((Defect) => cause instanceof Defect) && !isOfUpdate;
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
  UNSUPPORTED_MEDIA_TYPE: { status: 415, close: CLOSE_CODES.BAD_REQUEST },
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
