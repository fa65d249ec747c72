/** The statements about the defaults of notifications, which other features include in their batches. */
import { eq, sql } from "drizzle-orm";
import { build, columnsOf, prepared, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { DEFAULTS, NotificationDefaults } from "../../wire/notification-settings.ts";
import { notificationDefaults } from "./table.ts";

const defaultsOf = prepared(() =>
  build
    .select({ defaults: columnsOf(notificationDefaults).defaults })
    .from(notificationDefaults)
    .where(eq(notificationDefaults.accountId, sql.placeholder("accountId"))),
);

/** No row for the defaults of the service. */
export const selectDefaults = ({ accountId }: Tenant) => defaultsOf({ accountId });

export const defaultsIn = (row: { readonly defaults: string } | undefined): NotificationDefaults =>
  row === undefined ? DEFAULTS : NotificationDefaults.parse(JSON.parse(row.defaults));

export const storeDefaults = ({ accountId }: Tenant, defaults: NotificationDefaults): Statement => ({
  sql: `INSERT INTO notification_defaults (account_id, defaults) VALUES (?, ?)
        ON CONFLICT (account_id) DO UPDATE SET defaults = excluded.defaults`,
  params: [accountId, JSON.stringify(defaults)],
});
