/** The statement that writes a user's event in the batch of the change itself. */
import {
  differsBy,
  type EventEntry,
  type Fragment,
  insertEvent,
  rowAsJson,
} from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { rooms } from "../rooms/table.ts";
import { type UserRow, users } from "./table.ts";

/** The fields that an update writes. */
type UserChanges = Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId" | "role">>;

const ALWAYS: Fragment = { sql: "TRUE", params: [] };
const ROOM = rowAsJson(rooms, "rooms");
const USER = rowAsJson(users, "users");

/**
 * Writes the event and returns it, if the user exists. Runs after the statement that
 * creates the user, and before the one that updates or deletes it. An update passes its `changes`: the event shows
 * the user with them, and is not written if they change nothing. A deletion passes what the event is to show instead of
 * the user's own fields.
 */
export function insertUserEvent(
  tenant: Tenant,
  entry: EventEntry,
  userId: string,
  changes: UserChanges | null = null,
  shown: UserChanges | null = changes,
): Statement<OutboxEventRow> {
  const condition = changes === null ? ALWAYS : differsBy(users, "users", changes);
  return insertEvent(tenant, entry, {
    from: "users JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id",
    where: {
      sql: `users.account_id = ? AND users.room_id = ? AND users.id = ? AND (${condition.sql})`,
      params: [tenant.accountId, entry.roomId, userId, ...condition.params],
    },
    room: ROOM,
    subject: shown === null ? USER : rowAsJson(users, "users", shown),
  });
}
