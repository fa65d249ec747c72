/** The SQL of inboxes: what of them is shown now, and to whom notifications are sent. */
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { IdentityKind } from "../../wire/identity.ts";
import type { NotificationRecord } from "../../wire/sent-notification.ts";
import { mayEnter } from "../access/statements.ts";
import { identities } from "../identities/table.ts";
import { IS_LIVE } from "../rooms/table.ts";

/** The facts that decide by which channels an identity is reached. No row without it. */
export const selectReachability = (
  { accountId }: Tenant,
  identityId: string,
): Statement<{ kind: IdentityKind; email: string | null }> => ({
  sql: "SELECT kind, email FROM identities WHERE account_id = ? AND id = ?",
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

export interface IdentityEpochs {
  readonly identity: number;
  readonly account: number;
}

/** No row without the identity. */
export const selectEpochs = ({ accountId }: Tenant, identityId: string): Statement<IdentityEpochs> => ({
  sql: `SELECT identities.token_epoch AS identity, accounts.token_epoch AS account
        FROM identities JOIN accounts ON accounts.id = identities.account_id
        WHERE identities.account_id = ? AND identities.id = ?`,
  params: [accountId, identityId],
});

interface OpenRoom {
  readonly id: string;
  readonly customId: string | null;
}

/** The rooms among these that the identity may enter. */
export const selectOpenRooms = (
  { accountId }: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Statement<OpenRoom> => ({
  sql: `SELECT rooms.id, rooms.custom_id AS customId FROM json_each(?3) AS asked CROSS JOIN rooms
        WHERE rooms.account_id = ?1 AND rooms.id = asked.value AND ${IS_LIVE} AND rooms.state = 'active'
          AND ${mayEnter("?1", "rooms.id", "?2")}`,
  params: [accountId, identityId, JSON.stringify(roomIds)],
});
