/** The only SQL about events of users: written in the batch of their change, kept until every listener has them. */
import { asc, eq, getTableColumns, lt, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { rooms } from "../rooms/table.ts";
import { type UserRow, users } from "../users/table.ts";
import { subscriptionsAsJson } from "./subscriptions.ts";
import { type UserEventRow, userEvents } from "./table.ts";

/** An event that is about to happen to a user. */
export interface UserEventEntry {
  readonly id: string;
  readonly event: UserEventRow["event"];
  readonly roomId: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** SQL that gives a table's row as JSON under its TypeScript names, with `?` for the columns named. */
function rowAsJson(table: SQLiteTable, name: string, replaced: readonly string[] = []): string {
  const fields = Object.entries(getTableColumns(table)).map(([field, column]) =>
    replaced.includes(field) ? `'${field}', ?` : `'${field}', ${name}.${column.name}`,
  );
  return `json_object(${fields.join()})`;
}

const ROOM_JSON = rowAsJson(rooms, "rooms");
const USER_COLUMNS = getTableColumns(users);

/** What an update is about to write; empty for what is no update. */
type Changes = Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId">>;

/**
 * Writes the event and answers it, if anybody listens and the user is there: after the statement that creates
 * the user, before the one that deletes it, and before the one that makes `changes`. The event then has them
 * in it; where they make no difference, nothing happens.
 */
export function insertUserEvent(
  tenant: Tenant,
  { id, event, roomId, userId, occurredAt }: UserEventEntry,
  changes: Changes = {},
): Statement<UserEventRow> {
  // In the order of the columns, as their values stand in the parameters.
  const changed = Object.entries(USER_COLUMNS).filter(([field]) => Object.hasOwn(changes, field));
  const fields = changed.map(([field]) => field);
  const values = Object.entries(USER_COLUMNS).flatMap(([field]) =>
    Object.entries(changes).flatMap(([name, value]) => (name === field ? [value] : [])),
  );
  const differs = changed.map(([, column]) => `users.${column.name} IS NOT ?`).join(" OR ");
  const listeners = subscriptionsAsJson(tenant, roomId, event);
  return {
    sql: `INSERT INTO user_events (id, account_id, event, occurred_at, room, user, owed)
          SELECT ?, users.account_id, ?, ?, ${ROOM_JSON}, ${rowAsJson(users, "users", fields)}, listeners.owed
          FROM (${listeners.sql}) AS listeners, users
          JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id
          WHERE users.account_id = ? AND users.room_id = ? AND users.id = ? AND (${differs || "TRUE"})
          RETURNING ${RETURNED}`,
    params: [
      ...[id, event, occurredAt],
      ...values,
      ...listeners.params,
      ...[tenant.accountId, roomId, userId],
      ...values,
    ],
  };
}

const RETURNED = Object.entries(getTableColumns(userEvents))
  .map(([field, column]) => `${column.name} AS "${field}"`)
  .join();

/** Forgets the event: all have it. */
export const deleteUserEvent = (id: string): Statement =>
  statement(build.delete(userEvents).where(eq(userEvents.id, id)));

/** Notes who of the listeners has not been given the event yet. */
export const updatePendingSubscriptions = (id: string, owed: string): Statement =>
  statement(build.update(userEvents).set({ owed }).where(eq(userEvents.id, id)));

/** A page of the events from before `before` (epoch ms), the oldest first: their hand-over was cut off. */
export const selectPendingUserEvents = (
  before: number,
  { limit, offset }: Pick<Page, "limit" | "offset">,
): Statement<UserEventRow> =>
  statement(
    build
      .select(columnsOf(userEvents))
      .from(userEvents)
      .where(lt(userEvents.occurredAt, before))
      .orderBy(asc(userEvents.occurredAt), sql`rowid`)
      .limit(limit)
      .offset(offset),
  );
