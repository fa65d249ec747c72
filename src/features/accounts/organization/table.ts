/** Organizations: what one owns refers to its row, in its database and in the directory. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the tokens of all of its users were last ended, epoch ms; 0 before that. Grows with each ending. */
    tokenEpoch: integer("token_epoch").notNull().default(0),
    /** When its owner deleted it (epoch ms): what it owns is being deleted, and no one has access to it; null otherwise. */
    deletedAt: integer("deleted_at"),
    /** In the directory: the binding of the database that has what it owns. */
    database: text().notNull().default("DB"),
  },
  (table) => [index("accounts_deleted").on(table.deletedAt).where(sql`deleted_at IS NOT NULL`)],
);
