/** The directory: organizations, their moves, and where the data is; and the fences in each database. */

import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const fences = sqliteTable("fences", {
  accountId: text("account_id").primaryKey(),
  /** The run of {@link moves} that wrote it last: a run that was overtaken writes nothing more. */
  fencingToken: integer("fencing_token").notNull(),
});

/** Where the deployment's data was created: one row, which `npm run deploy` writes, as nothing can be moved later. */
export const dataLocations = sqliteTable("data_locations", {
  id: integer().primaryKey(),
  /** The settings LOCATION and JURISDICTION then; empty for automatic. */
  location: text().notNull(),
  jurisdiction: text().notNull(),
});

const MOVE_PHASES = ["copying", "comparing", "settling", "removing", "cancelled"] as const;

export const moves = sqliteTable("moves", {
  accountId: text("account_id").primaryKey(),
  source: text().notNull(),
  target: text().notNull(),
  phase: text({ enum: MOVE_PHASES }).notNull(),
  /** The phase's table, and the JSON of its position; null at the beginning. */
  step: integer().notNull(),
  cursor: text(),
  /** Grows with each run that continues the move, which only the latest may do. */
  fencingToken: integer("fencing_token").notNull(),
  /** When the directory began to name the target, epoch ms; null before that. */
  flippedAt: integer("flipped_at"),
  startedAt: integer("started_at").notNull(),
});

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the tokens of all of its users were last ended, epoch ms; 0 before that. Grows with each ending. */
    tokenEpoch: integer("token_epoch").notNull().default(0),
    /**
     * Time of deletion by its owner (epoch ms); null otherwise. Its data is being deleted, and no one has
     * access to it.
     */
    deletedAt: integer("deleted_at"),
    /** Binding of the organization's database; valid in the directory. */
    database: text().notNull().default("DB"),
  },
  (table) => [index("accounts_deleted").on(table.deletedAt).where(sql`deleted_at IS NOT NULL`)],
);
