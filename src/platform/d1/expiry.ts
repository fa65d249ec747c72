/** Deletes expired rows in chunks, so that no other statement waits for long. */

import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { WorkBudget } from "../flow/work-budget.ts";
import { type Database, type Statement, statement } from "./d1.ts";

const ROWS_AT_ONCE = 1_000;
const CHUNKS_PER_RUN = 100;

type Deletion = Statement<{ deleted: number }>;

/** Rows of a table whose `column`, which has an index, says when they expire or were written (epoch ms). */
export interface Expiring {
  readonly table: SQLiteTable;
  readonly column: SQLiteColumn;
  readonly and?: SQL;
}

/** Deletes up to `limit` of those until `time` (epoch ms), the oldest first. */
export const deleteUntil = (
  { table, column, and = sql`TRUE` }: Expiring,
  time: number,
  limit: number,
): Deletion => statement`DELETE FROM ${table} WHERE rowid IN (
      SELECT rowid FROM ${table} WHERE ${column} <= ${time} AND ${and} ORDER BY ${column} LIMIT ${limit}
    ) RETURNING 1 AS deleted`;

export const deleteInChunks = (
  db: Database,
  deletion: (limit: number) => Deletion,
  budget: WorkBudget = new WorkBudget(CHUNKS_PER_RUN),
): Promise<boolean> =>
  budget.run(async () => {
    const [deleted] = await db.run([deletion(ROWS_AT_ONCE)]);
    return deleted.length === ROWS_AT_ONCE;
  });

/** Deletes rows that expired until `time` (epoch ms), within the queries of a run; a later run continues. */
export const expire = (
  db: Database,
  expiring: Expiring,
  time: number,
  queries: WorkBudget | null = null,
): Promise<boolean> =>
  deleteInChunks(db, (limit) => deleteUntil(expiring, time, limit), new WorkBudget(CHUNKS_PER_RUN, queries));
