/** The statement that writes a room's event in the batch of the change itself. */
import {
  differsBy,
  type EventEntry,
  type Fragment,
  insertEvent,
  rowAsJson,
} from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { type RoomRow, rooms } from "./table.ts";

/** The fields that an update writes. */
type RoomChanges = Partial<Pick<RoomRow, "name" | "nameFolded" | "customId" | "state">>;

const ROOM = rowAsJson(rooms, "rooms");

const insert = (
  tenant: Tenant,
  entry: EventEntry,
  condition: Fragment,
  changes: RoomChanges | null = null,
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: "rooms",
    where: {
      sql: `rooms.account_id = ? AND rooms.id = ? AND (${condition.sql})`,
      params: [tenant.accountId, entry.roomId, ...condition.params],
    },
    room: changes === null ? ROOM : rowAsJson(rooms, "rooms", changes),
  });

/** `room.created`, after the statement that creates the room, or `room.deleted`, before the one that deletes it. */
export const insertRoomEvent = (tenant: Tenant, entry: EventEntry): Statement<OutboxEventRow> =>
  insert(tenant, entry, { sql: "TRUE", params: [] });

/** `room.updated`, before the update: if it changes the name or the custom ID, or reopens the room. */
export function insertRoomUpdated(
  tenant: Tenant,
  entry: EventEntry,
  changes: RoomChanges,
): Statement<OutboxEventRow> {
  const { state, ...others } = changes;
  const reported = state === "active" ? changes : others;
  return insert(tenant, entry, differsBy(rooms, "rooms", reported), changes);
}

/** `room.closed`, before the update: if it closes the room. */
export const insertRoomClosed = (
  tenant: Tenant,
  entry: EventEntry,
  changes: RoomChanges,
): Statement<OutboxEventRow> =>
  insert(
    tenant,
    entry,
    { sql: "? = 'closed' AND rooms.state <> 'closed'", params: [changes.state ?? ""] },
    changes,
  );
