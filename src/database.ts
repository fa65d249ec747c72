/** The one place that opens D1: stores build statements on it, commands and queries run them in one round trip. */

import { gte, lte, type SQL } from "drizzle-orm";
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

export type Database = DrizzleD1Database;

/** One organization's view of the database: the first argument of every store function. */
export interface Tenant {
  readonly accountId: string;
  readonly db: Database;
}

/** A statement that is built but not run. */
export type Statement = BatchItem<"sqlite">;

/** What a batch of statements answers, one by one. */
export type Results<T extends readonly [Statement, ...Statement[]]> = BatchResponse<T>;

/** One page of a list, as stores take it. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Folded text that the searched field contains; empty for no filter. */
  readonly search: string;
  /** Inclusive bounds of `created_at` in epoch milliseconds; null for none. */
  readonly from: number | null;
  readonly to: number | null;
}

/** The conditions by which a page's date filters hold `column`. */
export const within = (column: SQLiteColumn, page: Page): SQL[] => [
  ...(page.from === null ? [] : [gte(column, page.from)]),
  ...(page.to === null ? [] : [lte(column, page.to)]),
];

export const openDatabase = (d1: D1Database): Database => drizzle(d1);

export const openTenant = (d1: D1Database, accountId: string): Tenant => ({
  accountId,
  db: openDatabase(d1),
});

/**
 * What a failed statement violated: `unique:rooms.account_id, rooms.custom_id`, `foreign` (what it refers to
 * is not there), or null when it failed for another reason. drizzle wraps the reason of a single statement,
 * not that of a batch.
 */
export function violatedConstraint(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const unique = /UNIQUE constraint failed: (.+?)(?::|$)/.exec(cause.message);
    if (unique !== null) return `unique:${unique[1]}`;
    if (cause.message.includes("FOREIGN KEY constraint failed")) return "foreign";
  }
  return null;
}

/** True when D1 says that a table is missing: the migrations have not been applied. */
export function lacksTables(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes("no such table")) return true;
  }
  return false;
}
