/** The table of what organizations do by default with notifications that stay unread. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../../platform/d1/table.ts";

/** Without a row, the defaults of the service. */
export const notificationDefaults = sqliteTable("notification_defaults", {
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  /** `NotificationDefaults` as JSON. */
  defaults: text().notNull(),
});
