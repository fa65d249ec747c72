/** Pages of long lists, newest first: an index finds where each one starts, so that the last one costs what the first one does. */
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Page, Statement } from "./d1.ts";

/** The parts of a statement that selects a page; the index has these two columns, both descending, behind its equal ones. */
export interface NewestFirst {
  readonly where: SQL;
  readonly orderBy: readonly [SQL, SQL];
}

/** Selects the items of `page.from` to `page.to` that follow `page.after`. Values: {@link pageValues}. */
export const newestFirst = (time: SQLiteColumn, id: SQLiteColumn): NewestFirst => ({
  // SQLite seeks to the time alone, and compares the pair for the items of that millisecond.
  where: sql`(${time} BETWEEN ${sql.placeholder("from")} AND min(${sql.placeholder("to")}, ${sql.placeholder("afterTime")})
    AND (${time}, ${id}) < (${sql.placeholder("afterTime")}, ${sql.placeholder("afterId")}))`,
  orderBy: [sql`${time} DESC`, sql`${id} DESC`],
});

/** The values of the placeholders of {@link newestFirst}. */
export const pageValues = ({ limit, offset, search, from, to, after }: Page) => ({
  limit,
  offset,
  search,
  from,
  to,
  afterTime: after?.time ?? Number.MAX_SAFE_INTEGER,
  afterId: after?.id ?? "",
});

/** Whether a page leaves out nothing by its text and dates. */
export const isUnfiltered = ({ search, from, to }: Page): boolean =>
  search === "" && from <= 0 && to >= Number.MAX_SAFE_INTEGER;

/** How many items match a list. */
type Total = Statement<{ total: number }>;

/** Counts for the first page; those that follow it show the same total, which their position holds. */
export const countOnce = ({ after }: Page, count: () => Total): Total =>
  after?.total === undefined ? count() : { sql: "SELECT ? AS total", params: [after.total] };
