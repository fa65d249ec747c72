/** The one error class of the service, for everything that is refused on purpose. */
import type { ErrorCode, Module } from "./error-codes.ts";

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
