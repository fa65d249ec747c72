/** Organizations and their API keys. */
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

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** SHA-256 of the key in hexadecimal; 256 random bits need no slow hash. */
    hash: text().notNull().unique(),
    /** The key's first characters and its last four, so that people can tell their keys apart. */
    prefix: text().notNull(),
    lastFour: text("last_four").notNull(),
    createdAt: integer("created_at").notNull(),
    /** To the minute. */
    lastUsedAt: integer("last_used_at"),
  },
  (table) => [index("api_keys_account").on(table.accountId, table.createdAt)],
);

export type ApiKeyRow = typeof apiKeys.$inferSelect;
