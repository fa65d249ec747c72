/** The service's log: one JSON line per entry on the console, with the same field names everywhere. */
import { innermostCause } from "@atrium/contract/errors.ts";

type LogLevel = "info" | "warn" | "error";

/** The subject of an entry. Never put secrets or anything that users wrote into it. */
export interface LogFields {
  readonly account?: string | undefined;
  readonly room?: string | undefined;
  readonly webhook?: string | undefined;
  readonly workflow?: string | undefined;
  readonly object?: string | undefined;
  readonly request?: string | undefined;
  readonly mail?: string | undefined;
  readonly passkey?: string | undefined;
  readonly task?: string | undefined;
}

/** Logs only the innermost cause: wrapping errors may quote text of users. */
export function log(level: LogLevel, message: string, fields: LogFields = {}, error?: unknown): void {
  const cause = innermostCause(error);
  const reason = cause instanceof Error ? { error: cause.message, stack: cause.stack } : {};
  console[level](JSON.stringify({ level, message, ...fields, ...reason }));
}

export const logError = (message: string, fields: LogFields = {}, error?: unknown): void =>
  log("error", message, fields, error);
