/** The SQL about identities to whom notifications are sent. */
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { NotificationRecord } from "../../wire/sent-notification.ts";
import { identities } from "../identities/table.ts";

/** No row without the identity. */
export const selectEmail = (
  { accountId }: Tenant,
  identityId: string,
): Statement<{ email: string | null }> => ({
  sql: "SELECT email FROM identities WHERE account_id = ? AND id = ?",
  params: [accountId, identityId],
});

/** Writes the event for the identity, whose ID stands for the room's, once for its ID. */
export function insertNotificationEvent(
  tenant: Tenant,
  entry: EventEntry,
  { channel, items }: Omit<NotificationRecord, "identity">,
): Statement<OutboxEventRow> {
  const identity = rowAsJson(identities, "identities");
  return insertEvent(tenant, entry, {
    from: "identities",
    where: {
      sql: `identities.account_id = ? AND identities.id = ?
            AND NOT EXISTS (SELECT 1 FROM outbox_events WHERE id = ?)`,
      params: [tenant.accountId, entry.roomId, entry.id],
    },
    subject: {
      sql: `json_object('channel', ?, 'items', json(?), 'identity', ${identity.sql})`,
      params: [channel, JSON.stringify(items), ...identity.params],
    },
  });
}
