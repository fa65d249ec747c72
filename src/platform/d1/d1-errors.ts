/** What an error of D1 says: which constraint was violated, or that there are no tables. */
import { innermostCause } from "../errors.ts";

/**
 * The constraint that a failed statement violated: `unique:rooms.account_id, rooms.custom_id`, `foreign` (the row it
 * refers to does not exist), `required:memberships.role` (a value is missing), or null if it failed otherwise.
 */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const unique = /UNIQUE constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (unique !== null) return `unique:${unique[1]}`;
  const required = /NOT NULL constraint failed: (.+?)(?::|$)/.exec(error.message);
  if (required !== null) return `required:${required[1]}`;
  return error.message.includes("FOREIGN KEY constraint failed") ? "foreign" : null;
}

/**
 * True while the organization is moved to another database, or restored: triggers refuse what is written for it. Also for
 * refusals that this error has caused.
 */
export function isFenced(error: unknown): boolean {
  const cause = innermostCause(error);
  return cause instanceof Error && cause.message.includes("organization_is_fenced");
}

/** True when a table is missing, because the migrations have not been applied. */
export const lacksTables = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("no such table");
