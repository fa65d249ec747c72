/** The service's log: one JSON line per entry on the console, with the same field names everywhere. */
import { innermostCause } from "./errors.ts";

export type LogLevel = "info" | "warn" | "error";

/** The subject of an entry. Never put secrets or anything that users wrote into it. */
export interface LogFields {
  readonly account?: string | undefined;
  readonly room?: string | undefined;
  readonly webhook?: string | undefined;
  readonly workflow?: string | undefined;
  /** The ID of a Durable Object that does not know its room or subscriber yet. */
  readonly object?: string | undefined;
  /** The request ID, as in the response's `X-Request-Id`. */
  readonly request?: string | undefined;
  /** The ID of a mail. */
  readonly mail?: string | undefined;
  /** The scheduled task, such as `outbox`. */
  readonly task?: string | undefined;
}

/**
 * Writes one entry. Only the innermost cause of an error is logged, because the errors that wrap it may quote what
 * users wrote.
 */
export function log(level: LogLevel, message: string, fields: LogFields = {}, error?: unknown): void {
  const cause = innermostCause(error);
  const reason = cause instanceof Error ? { error: cause.message, stack: cause.stack } : {};
  console[level](JSON.stringify({ level, message, ...fields, ...reason }));
}

export const logError = (message: string, fields: LogFields = {}, error?: unknown): void =>
  log("error", message, fields, error);
