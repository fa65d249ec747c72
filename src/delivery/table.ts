/** What happened and must still be handed on, written in the batch that made it happen. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Changes of which a live room must hear. */
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

/** Events of users that subscribers must still be given; those that happen in live rooms stand in their objects. */
export const userEvents = sqliteTable(
  "user_events",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    event: text({ enum: ["user.created", "user.updated", "user.deleted"] }).notNull(),
    occurredAt: integer("occurred_at").notNull(),
    /** The rows of room and user after the change, as JSON: whatever happens to them later. */
    room: text().notNull(),
    user: text().notNull(),
    /** Who listened when it happened and has not been given it yet (`Listener[]` of listeners.ts) as JSON. */
    owed: text().notNull(),
  },
  (table) => [index("user_events_oldest").on(table.occurredAt)],
);

export type UserEventRow = typeof userEvents.$inferSelect;
