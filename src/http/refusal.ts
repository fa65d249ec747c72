/** The error that a response reports, whatever was thrown. */
import { lacksTables } from "../platform/d1/d1-errors.ts";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { passingReason } from "../platform/objects/rpc.ts";

const UNAPPLIED_MIGRATIONS =
  "The database has no tables yet. Locally, run `npm start` or `npx wrangler d1 migrations apply DB --local`; " +
  "in production, run `npm run deploy`";

/** Objects follow their Worker within seconds, as a rule. */
const RETRY_SECONDS = 5;

/** The error for the response: an AppError unchanged, anything else as an INTERNAL_ERROR that discloses nothing. */
export function toAppError(error: unknown, module: Module): AppError {
  if (error instanceof AppError) return error;
  if (lacksTables(error)) return new AppError("Server", "INTERNAL_ERROR", UNAPPLIED_MIGRATIONS);
  const reason = passingReason(error);
  if (reason !== null) return new AppError("Server", "RATE_LIMITED", reason, RETRY_SECONDS);
  return new AppError(
    module,
    "INTERNAL_ERROR",
    "The service failed; retry, and quote the request ID if it fails again",
  );
}
