/** The use and the limits of an organization's quotas. Triggers count, so that no way to create something can forget to. */

import { COUNTERS } from "@atrium/contract/resources/quota.ts";
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";

export const quotas = sqliteTable(
  "quotas",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    quota: text({ enum: COUNTERS }).notNull(),
    used: integer().notNull(),
    /** The limit of this organization; null for the deployment's default. */
    max: integer(),
    /** 1 for what people and their access are counted by: it stays in the directory when the organization moves. */
    inDirectory: integer("in_directory").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.quota] })],
);

/** The backlog of a webhook or workflow, as its object has reported it. An empty backlog has no row. */
export const backlogs = sqliteTable(
  "backlogs",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    subscriberId: text("subscriber_id").notNull(),
    events: integer().notNull(),
    bytes: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.subscriberId] })],
);
