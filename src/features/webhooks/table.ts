/** The table of webhooks. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";

const DISABLED_REASONS = ["gone", "failing", "unproven", "backlogged"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

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
    /** `host:port` of this service when the URL was saved: deliveries never go there. */
    ownHost: text("own_host").notNull(),
    events: text().notNull(),
    /** Null for all rooms. No foreign key: the events of a deleted room are still delivered. */
    roomId: text("room_id"),
    /** The agent whose mentions alone it receives; null for none. Its webhooks are deleted with the identity. */
    identityId: text("identity_id"),
    /** The events of one request: `BatchLimits` as JSON; null for one each. */
    batch: text(),
    enabled: integer().notNull(),
    /** Why the service itself has disabled the webhook; null while it is enabled, or was disabled by a request. */
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    /** The signing secret, encrypted (`delivery/signing-secrets`). Only the objects that deliver read it. */
    secret: text().notNull(),
    /** The rotated secret, which keeps signing until then (epoch ms); both null before the first rotation. */
    previousSecret: text("previous_secret"),
    previousSecretUntil: integer("previous_secret_until"),
    /** The start of a high backlog (epoch ms); null while the webhook keeps up. */
    backloggedSince: integer("backlogged_since"),
    createdAt: integer("created_at").notNull(),
    /** Grows with each change; also the row's version. */
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("webhooks_secret").on(table.secret),
    index("webhooks_previous_secret").on(table.previousSecret),
    index("webhooks_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
    index("webhooks_by_url").on(table.accountId, table.urlFolded, table.id),
    index("webhooks_updated").on(table.accountId, table.updatedAt, table.id),
  ],
);

export type StoredWebhook = typeof webhooks.$inferSelect;
/** A webhook without its secrets, for everything but the objects that deliver. */
export type WebhookRow = Omit<StoredWebhook, "secret" | "previousSecret" | "previousSecretUntil">;
