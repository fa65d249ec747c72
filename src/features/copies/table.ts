/** Scheduled copies of the databases in the directory: their progress, and the parts that the bucket has. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The next rows to copy. */
export interface Position {
  /** The binding of the database; null when all are copied and the manifest is missing. */
  readonly database: string | null;
  /** Hash of the database's schema, because a copy cannot go on with other tables; null before its first part. */
  readonly schema: string | null;
  /** The table; null for the first one. */
  readonly table: string | null;
  /** The table's last row that is copied; 0 before the first. */
  readonly after: number;
  /** The number of parts that each database has in the bucket. */
  readonly parts: Readonly<Record<string, number>>;
}

export const copies = sqliteTable("copies", {
  /** Epoch milliseconds; names the copy in the bucket. */
  startedAt: integer("started_at").primaryKey(),
  /** An abandoned copy is deleted once a later one is complete. */
  state: text({ enum: ["copying", "complete", "abandoned"] }).notNull(),
  /** JSON of a {@link Position}. */
  position: text().notNull(),
  /** The end of a run's right to continue the copy, epoch ms: one run at a time does. */
  takenUntil: integer("taken_until").notNull().default(0),
  /** The latest failure, which was logged; null without one. */
  problem: text(),
});

export type CopyRow = typeof copies.$inferSelect;
