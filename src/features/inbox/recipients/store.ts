/** The SQL of inboxes: what of them is shown now, and to whom notifications are sent. */

import type { IdentityKind } from "@atrium/contract/resources/identity.ts";
import { DEFAULTS, NotificationDefaults } from "@atrium/contract/resources/notification-settings.ts";
import type { NotificationRecord } from "@atrium/contract/resources/sent-notification.ts";
import { eq, sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../../platform/d1/d1.ts";
import { identities } from "../../identities/table.ts";
import { notificationDefaults } from "./table.ts";

/** The facts that decide by which channels an identity is reached. No row without it. */
export const selectReachability = (
  { accountId }: Tenant,
  identityId: string,
): Statement<{ kind: IdentityKind; email: string | null }> =>
  statement`SELECT kind, email FROM identities WHERE account_id = ${accountId} AND id = ${identityId}`;

const IDENTITY = rowAsJson(identities, "identities");

/** Writes the event for the identity, whose ID stands for the room's, once for its ID. */
export function insertNotificationEvent(
  tenant: Tenant,
  entry: EventEntry,
  { channel, items }: Omit<NotificationRecord, "identity">,
): Statement<OutboxEventRow> {
  return insertEvent(tenant, entry, {
    from: sql`identities`,
    where: sql`identities.account_id = ${tenant.accountId} AND identities.id = ${entry.roomId}
        AND NOT EXISTS (SELECT 1 FROM outbox_events WHERE id = ${entry.id})`,
    subject: sql`json_object('channel', ${channel}, 'items', json(${JSON.stringify(items)}), 'identity',
        ${IDENTITY})`,
  });
}

export interface IdentityEpochs {
  readonly identity: number;
  readonly account: number;
}

/** No row without the identity. */
export const selectEpochs = (
  { accountId }: Tenant,
  identityId: string,
): Statement<IdentityEpochs> => statement`SELECT identities.token_epoch AS identity,
    accounts.token_epoch AS account
    FROM identities JOIN accounts ON accounts.id = identities.account_id
    WHERE identities.account_id = ${accountId} AND identities.id = ${identityId}`;

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

export const storeDefaults = (
  { accountId }: Tenant,
  defaults: NotificationDefaults,
): Statement => statement`INSERT INTO notification_defaults (account_id, defaults)
    VALUES (${accountId}, ${JSON.stringify(defaults)})
    ON CONFLICT (account_id) DO UPDATE SET defaults = excluded.defaults`;

/** The names of users in any room of the organization. */
export const selectUserNames = (
  { accountId }: Pick<Tenant, "accountId">,
  ids: readonly string[],
): Statement<{ id: string; name: string }> => statement`SELECT users.id, users.name
    FROM json_each(${JSON.stringify(ids)}) AS asked CROSS JOIN users
    WHERE users.id = asked.value AND users.account_id = ${accountId}`;

/** The users and groups, of these, that an identity is or is in. */
export const selectOwn = (
  { accountId }: Pick<Tenant, "accountId">,
  identityId: string,
  ids: readonly string[],
): Statement<{ id: string }> => statement`SELECT users.id FROM json_each(${JSON.stringify(ids)}) AS asked
    CROSS JOIN users
    WHERE users.id = asked.value AND users.account_id = ${accountId} AND users.identity_id = ${identityId}
    UNION ALL
    SELECT group_members.group_id FROM json_each(${JSON.stringify(ids)}) AS asked CROSS JOIN group_members
    WHERE group_members.account_id = ${accountId} AND group_members.identity_id = ${identityId}
      AND group_members.group_id = asked.value`;
