/** The service's error class, for every request that is refused on purpose. */
import type { ErrorCode, Module } from "./error-codes.ts";

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

/**
 * The innermost cause of an error, for logs. The errors that wrap it may quote a statement's parameters, as drizzle's
 * do, and those hold what users wrote.
 */
export function innermostCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  return cause;
}
