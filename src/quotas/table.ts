/**
 * The use of an organization's quotas, and the limits that the operator has set. Triggers count (see the migrations
 * `quotas`, `quota_of_users_online`, `quota_of_store_bytes` and `totals_of_an_organization`), so that no way to create or
 * delete something can forget to.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../accounts/table.ts";
import { COUNTERS } from "./quota.ts";

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
  },
  (table) => [primaryKey({ columns: [table.accountId, table.quota] })],
);
