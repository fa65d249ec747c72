/** The only SQL of the outbox: room commands, events of users, and who subscribes to what. */
import { asc, eq, getTableColumns, lt, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../../platform/d1.ts";
import type { RoomCommand } from "../../realtime/port/room-command.ts";
import { rooms } from "../../rooms/table.ts";
import { type UserRow, users } from "../../users/table.ts";
import type { EventName } from "../events.ts";
import type { Subscription } from "../fan-out.ts";
import type { SubscriberKey } from "../port/subscriber-port.ts";
import { outbox, type UserEventRow, userEvents } from "./table.ts";

type PageBounds = Pick<Page, "limit" | "offset">;

/** A command on its way to its room. */
export interface OutboxEntry {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly command: RoomCommand;
}

/**
 * Writes the entry and returns its id, provided that each of `conditions` selects a row before the later statements
 * of the batch run. The conditions keep a change of a missing or foreign row from reaching a room.
 */
export const insertOutboxEntry = (
  entry: OutboxEntry,
  conditions: readonly [Statement, ...Statement[]],
  now: number,
): Statement<{ id: string }> => ({
  sql: `INSERT INTO outbox (id, account_id, room_id, change, created_at)
        SELECT ?, ?, ?, ?, ? WHERE ${conditions.map(({ sql }) => `EXISTS (${sql})`).join(" AND ")}
        RETURNING id`,
  params: [
    entry.id,
    entry.accountId,
    entry.roomId,
    JSON.stringify(entry.command),
    now,
    ...conditions.flatMap(({ params }) => params),
  ],
});

export const deleteOutboxEntry = (id: string): Statement =>
  statement(build.delete(outbox).where(eq(outbox.id, id)));

/** A page of the entries written before `before` (epoch ms), oldest first: their relay was cut off. */
export const selectPendingCommands = (
  before: number,
  { limit, offset }: PageBounds,
): Statement<typeof outbox.$inferSelect> =>
  statement(
    build
      .select(columnsOf(outbox))
      .from(outbox)
      .where(lt(outbox.createdAt, before))
      .orderBy(asc(outbox.createdAt), asc(outbox.id))
      .limit(limit)
      .offset(offset),
  );

/** `events` is a JSON array of names. */
const subscriptionsOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events FROM ${kind}s
   WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)`;
const SUBSCRIPTIONS = `${subscriptionsOf("webhook")} UNION ALL ${subscriptionsOf("workflow")}`;
const subscriptionParams = ({ accountId }: Tenant, roomId: string) => [accountId, roomId, accountId, roomId];

/** All subscriptions to events of the room: those for all rooms, and those for this one. */
export const selectSubscriptions = (
  tenant: Tenant,
  roomId: string,
): Statement<Subscription & { events: string }> => ({
  sql: SUBSCRIPTIONS,
  params: subscriptionParams(tenant, roomId),
});

/** A subquery for one event's subscriptions as JSON, in `owed`; it has no row when there are none. */
const subscriptionsAsJson = (tenant: Tenant, roomId: string, event: EventName): Statement => ({
  sql: `SELECT json_group_array(json_object('kind', kind, 'id', id, 'version', version)) AS owed
        FROM (${SUBSCRIPTIONS}) WHERE instr(events, ?) HAVING count(*) > 0`,
  params: [...subscriptionParams(tenant, roomId), JSON.stringify(event)],
});

/** An event of a user that the batch is about to cause. */
export interface UserEventEntry {
  readonly id: string;
  readonly event: UserEventRow["event"];
  readonly roomId: string;
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** SQL for a table's row as JSON under its TypeScript names, with `?` for the fields in `replaced`. */
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

/** The fields that an update is about to write; none for a creation or deletion. */
type UserChanges = Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId">>;

/**
 * Writes the event and returns it, provided that someone subscribes and the user exists. It runs after the
 * statement that creates the user, and before the one that deletes or updates it. An update passes its `changes`:
 * the event shows the user with them, and is not written when they change nothing.
 */
export function insertUserEvent(
  tenant: Tenant,
  { id, event, roomId, userId, occurredAt }: UserEventEntry,
  changes: UserChanges = {},
): Statement<UserEventRow> {
  // The columns' order decides the order of the values among the parameters.
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

export const deleteUserEvent = (id: string): Statement =>
  statement(build.delete(userEvents).where(eq(userEvents.id, id)));

/** Records which subscriptions the event has yet to reach, as JSON. */
export const updatePendingSubscriptions = (id: string, pendingSubscriptions: string): Statement =>
  statement(build.update(userEvents).set({ pendingSubscriptions }).where(eq(userEvents.id, id)));

/** A page of the events from before `before` (epoch ms), oldest first: their relay was cut off. */
export const selectPendingUserEvents = (
  before: number,
  { limit, offset }: PageBounds,
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
