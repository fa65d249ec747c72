/** Whatever is thrown becomes an answer here: ours as they are, all else as one fixed sentence and a log line. */
import { lacksTables } from "../platform/d1.ts";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";

const UNAPPLIED_MIGRATIONS =
  "The database has no tables yet. Locally, `npm start` makes them, or `npx wrangler d1 migrations apply DB --local`; " +
  "in production, run `npx wrangler d1 migrations apply DB --remote --env production`";

/** The refusal that `error` stands for: itself, or an INTERNAL_ERROR that gives nothing away. */
export function toAppError(error: unknown, module: Module): AppError {
  if (error instanceof AppError) return error;
  if (lacksTables(error)) return new AppError("Server", "INTERNAL_ERROR", UNAPPLIED_MIGRATIONS);
  return new AppError(
    module,
    "INTERNAL_ERROR",
    "Something went wrong on our side; the request id names the case",
  );
}
