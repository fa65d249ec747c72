/** Activity per hour, as an earlier version of the service counted it: today, the shards of the event log do. Kept for two days. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const hourlyCounts = sqliteTable(
  "hourly_counts",
  {
    accountId: text("account_id").notNull(),
    /** The start of the hour, in epoch milliseconds. */
    hour: integer().notNull(),
    events: integer().notNull().default(0),
    runs: integer().notNull().default(0),
    failedRuns: integer("failed_runs").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.hour] }),
    index("hourly_counts_oldest").on(table.hour),
  ],
);

export type HourRow = Omit<typeof hourlyCounts.$inferSelect, "accountId">;
