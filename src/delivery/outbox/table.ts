/** The outbox: events and room commands that are committed, but not yet delivered. */
import { eventsOf } from "@atrium/contract/resources/event-names.ts";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const outbox = sqliteTable(
  "outbox",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    roomId: text("room_id").notNull(),
    command: text("change").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("outbox_by_account").on(table.accountId, table.createdAt)],
);

const EVENTS = [
  "access.changed",
  "notification",
  ...[...eventsOf("user"), ...eventsOf("file"), ...eventsOf("room")],
  ...[...eventsOf("identity"), ...eventsOf("group")],
] as const;

/** Events of changes over REST, for subscribers. Events of live rooms wait in the rooms' objects. */
export const outboxEvents = sqliteTable(
  "outbox_events",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    event: text({ enum: EVENTS }).notNull(),
    /** The ID of the identity or group instead, if the event belongs to no room. */
    roomId: text("room_id").notNull(),
    occurredAt: integer("occurred_at").notNull(),
    /** The room's row right after the change, as JSON: later changes do not alter the event. `null` without a room. */
    room: text().notNull(),
    /** The row of the user, file, identity or group, likewise, or a `NotificationRecord`; `null` for an event of the room itself. */
    subject: text().notNull(),
    /** The subscriptions that the event has yet to reach, as JSON (`Subscription[]`). */
    pendingSubscriptions: text("owed").notNull(),
    trace: text(),
  },
  (table) => [index("outbox_events_by_account").on(table.accountId, table.occurredAt)],
);

export type OutboxEventRow = typeof outboxEvents.$inferSelect & {
  /** 1 when the insertion found earlier events of the room, which a request has left behind. */
  readonly hasEarlier?: number;
};
