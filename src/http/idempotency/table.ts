/** Receipts of creations that carried an Idempotency-Key, kept for a day so that a retry is answered alike. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const receipts = sqliteTable(
  "receipts",
  {
    /** Who may see the answer again: the account, or one user of it. */
    scope: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of method, path and body: the same key with another request is a conflict. */
    fingerprint: text().notNull(),
    /** `data` of the answer without its secrets, as JSON; null when it may not be shown again. */
    data: text(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index("receipts_oldest").on(table.createdAt),
  ],
);
