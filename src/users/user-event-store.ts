/** The statement that writes a user's event, with the subscriptions it matches, in the batch of the change itself. */
import { getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { RequestContext } from "../context/context.ts";
import { subscriptionsAsJson } from "../delivery/outbox/outbox-store.ts";
import { type UserEventRow, userEvents } from "../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../platform/d1.ts";
import { rooms } from "../rooms/table.ts";
import { type UserRow, users } from "./table.ts";

/** A user's event that the batch will write. */
interface UserEventEntry {
  readonly id: string;
  readonly event: UserEventRow["event"];
  readonly roomId: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** A new event of a user, which occurs now. */
export const newUserEvent = (
  ctx: Pick<RequestContext, "newId" | "now">,
  event: UserEventEntry["event"],
  roomId: string,
  userId: string,
): UserEventEntry => ({ id: ctx.newId(), event, roomId, userId, occurredAt: ctx.now() });

/** SQL that returns a row as JSON under its TypeScript names, with `?` for the fields in `replaced`. */
function rowAsJson(table: SQLiteTable, name: string, replaced: readonly string[] = []): string {
  const fields = Object.entries(getTableColumns(table)).map(([field, column]) =>
    replaced.includes(field) ? `'${field}', ?` : `'${field}', ${name}.${column.name}`,
  );
  return `json_object(${fields.join()})`;
}

const ROOM_JSON = rowAsJson(rooms, "rooms");
const USER_COLUMNS = getTableColumns(users);
const RETURNED = Object.entries(getTableColumns(userEvents))
  .map(([field, column]) => `${column.name} AS "${field}"`)
  .join();

/** The fields that an update writes; none for a creation or deletion. */
type UserChanges = Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId">>;

/**
 * Writes the event and returns it, if the user exists. Runs after the statement that
 * creates the user, and before the one that updates or deletes it. An update passes its `changes`: the event shows
 * the user with them, and is not written if they change nothing.
 */
export function insertUserEvent(
  tenant: Tenant,
  { id, event, roomId, userId, occurredAt }: UserEventEntry,
  changes: UserChanges = {},
): Statement<UserEventRow> {
  // Values follow the order of the columns, as their placeholders do.
  const changed = Object.entries(USER_COLUMNS).filter(([field]) => Object.hasOwn(changes, field));
  const fields = changed.map(([field]) => field);
  const values = Object.entries(USER_COLUMNS).flatMap(([field]) =>
    Object.entries(changes).flatMap(([name, value]) => (name === field ? [value] : [])),
  );
  const differs = changed.map(([, column]) => `users.${column.name} IS NOT ?`).join(" OR ");
  const subscriptions = subscriptionsAsJson(tenant, roomId, event);
  return {
    sql: `INSERT INTO user_events (id, account_id, event, occurred_at, room, user, owed)
          SELECT ?, users.account_id, ?, ?, ${ROOM_JSON}, ${rowAsJson(users, "users", fields)}, subscriptions.owed
          FROM (${subscriptions.sql}) AS subscriptions, users
          JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id
          WHERE users.account_id = ? AND users.room_id = ? AND users.id = ? AND (${differs || "TRUE"})
          RETURNING ${RETURNED}`,
    params: [
      ...[id, event, occurredAt],
      ...values,
      ...subscriptions.params,
      ...[tenant.accountId, roomId, userId],
      ...values,
    ],
  };
}
