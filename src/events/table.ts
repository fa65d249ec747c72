/** The outbox: what happened and must still be handed on, written in the batch that made it happen. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const outbox = sqliteTable(
  "outbox",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    roomId: text("room_id").notNull(),
    /** The change (`Change` of change.ts) as JSON. */
    change: text().notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("outbox_oldest").on(table.createdAt)],
);
