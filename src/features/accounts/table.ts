/** The API keys of organizations. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";

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
    /** Time of the last use, to the minute. */
    lastUsedAt: integer("last_used_at"),
    /** The key that made it, with which it ends; null for a person and the operator. */
    createdByKey: text("created_by_key"),
    /** The permissions to which the key is narrowed, and the rooms, as JSON; null for all. */
    permissions: text(),
    rooms: text(),
  },
  (table) => [
    index("api_keys_newest").on(table.accountId, table.createdAt, table.id),
    index("api_keys_by_name").on(table.accountId, sql`name COLLATE NOCASE`, table.id),
    index("api_keys_by_use").on(table.accountId, sql`coalesce(last_used_at, 0)`, table.id),
  ],
);

export type ApiKeyRow = typeof apiKeys.$inferSelect;
