/** The webhooks of all organizations. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../accounts/table.ts";

export const webhooks = sqliteTable(
  "webhooks",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    id: text().notNull(),
    url: text().notNull(),
    /** `fold(url)`: SQLite folds ASCII only. */
    urlFolded: text("url_folded").notNull(),
    /** `host:port` under which this service was reached when it was given the address: never a target. */
    ownHost: text("own_host").notNull(),
    /** A JSON array of names of events. */
    events: text().notNull(),
    /** Null for all rooms. No foreign key: when the room goes, what happens at its end must still be told. */
    roomId: text("room_id"),
    /** 0 or 1. */
    enabled: integer().notNull(),
    /** What signs. It must be known to sign with it, so it is no hash; only the objects that deliver read it. */
    secret: text().notNull(),
    /** The one before, which still signs until then (epoch ms); both null before the first rotation. */
    previousSecret: text("previous_secret"),
    previousSecretUntil: integer("previous_secret_until"),
    createdAt: integer("created_at").notNull(),
    /** Greater after each change: also the row's version. */
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("webhooks_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
  ],
);

export type StoredWebhook = typeof webhooks.$inferSelect;
/** A webhook as all but the objects that deliver see it: without its secrets. */
export type WebhookRow = Omit<StoredWebhook, "secret" | "previousSecret" | "previousSecretUntil">;
