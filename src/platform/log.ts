/** The service's log: one JSON line per entry on the console, with the same field names everywhere. */
import { innermostCause } from "./errors.ts";

export type LogLevel = "info" | "warn" | "error";

/** What an entry is about. Never secrets, and never anything that users wrote. */
export interface LogFields {
  readonly account?: string | undefined;
  readonly room?: string | undefined;
  readonly webhook?: string | undefined;
  readonly workflow?: string | undefined;
  /** The id of a Durable Object, where it does not know its room or subscriber yet. */
  readonly object?: string | undefined;
  /** The request id, as the response's `X-Request-Id` shows it. */
  readonly request?: string | undefined;
  /** The scheduled task, such as `outbox`. */
  readonly task?: string | undefined;
}

/**
 * Writes one entry. Of an error only its innermost cause is logged: the layers above it, such as drizzle's,
 * quote statement parameters, which hold what users wrote.
 */
export function log(level: LogLevel, message: string, fields: LogFields = {}, error?: unknown): void {
  const cause = innermostCause(error);
  const reason = cause instanceof Error ? { error: cause.message, stack: cause.stack } : {};
  console[level](JSON.stringify({ level, message, ...fields, ...reason }));
}

export const logError = (message: string, fields: LogFields = {}, error?: unknown): void =>
  log("error", message, fields, error);
