/** The receipts of requests with an Idempotency-Key, kept for a day. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const receipts = sqliteTable(
  "receipts",
  {
    scope: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of method, path and body. A different request with the same key is a conflict. */
    fingerprint: text().notNull(),
    /** The response's `data` without its secrets, as JSON; null when it must not be shown again. */
    data: text(),
    createdAt: integer("created_at").notNull(),
    /** 1 for a change in the directory: the receipt stays there when its organization moves to another database. */
    inDirectory: integer("in_directory").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index("receipts_oldest").on(table.createdAt),
  ],
);
