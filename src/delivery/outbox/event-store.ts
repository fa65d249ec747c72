/** The statement that writes an event of D1 with its subscriptions, in the batch of the change. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import { type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { storeTrace, type Trace } from "../../platform/trace.ts";
import { subscriptionsAsJson } from "./subscriber-store.ts";
import type { SubscriberKey } from "./subscription.ts";
import { type OutboxEventRow, outboxEvents } from "./table.ts";

export interface EventEntry {
  readonly id: string;
  readonly event: OutboxEventRow["event"];
  readonly roomId: string;
  readonly occurredAt: number;
  readonly trace: Trace | null;
}

export const newEvent = (
  ctx: Pick<RequestContext, "newId" | "now"> & Pick<OperationContext, "trace">,
  event: EventEntry["event"],
  roomId: string,
): EventEntry => ({ id: ctx.newId(), event, roomId, occurredAt: ctx.now(), trace: ctx.trace });

interface EventSource {
  /** The event's ID, for a statement that writes several; the entry's own by default. */
  readonly id?: SQL;
  /** The tables with their joins. One of them is `rooms`, if the event belongs to a room. */
  readonly from: SQL;
  readonly where: SQL;
  /** Absent for an event that belongs to no room. */
  readonly room?: SQL;
  readonly subject?: SQL;
  readonly subscribers?: SubscriberKey["kind"];
}

const NULL = sql`'null'`;

const RETURNED = sql.raw(
  Object.entries(getTableColumns(outboxEvents))
    .map(([field, column]) => `${column.name} AS "${field}"`)
    .join(),
);

/** Writes the event and returns it, if the row that it is about exists, and its room, if it has one, is not deleted. */
export function insertEvent(
  tenant: Tenant,
  { id, event, roomId, occurredAt, trace }: EventEntry,
  { id: idOfRow, from, where, room, subject = NULL, subscribers }: EventSource,
): Statement<OutboxEventRow> {
  const { accountId } = tenant;
  const isThere = room === undefined ? where : sql`${where} AND rooms.deleted_at IS NULL`;
  return statement`INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed, trace)
      SELECT ${idOfRow ?? id}, ${accountId}, ${event}, ${roomId}, ${occurredAt}, ${room ?? NULL}, ${subject},
        subscriptions.owed, ${storeTrace(trace)}
      FROM (${subscriptionsAsJson(tenant, roomId, event, subscribers)}) AS subscriptions, ${from}
      WHERE ${isThere}
      RETURNING ${RETURNED}, EXISTS (SELECT 1 FROM ${earlierEvents({ accountId, roomId, occurredAt })}) AS "hasEarlier"`;
}

/** A column of a table that SQL calls by this name. */
const columnOf = (name: string, { name: column }: SQLiteColumn): SQL => sql.raw(`${name}.${column}`);

/**
 * SQL that returns a row of the table as JSON under its TypeScript names, with the `changes` that are to follow: values,
 * or expressions of the row as it is.
 */
export function rowAsJson(table: SQLiteTable, name: string, changes: object = {}): SQL {
  const changed = new Map<string, unknown>(Object.entries(changes));
  const fields = Object.entries(getTableColumns(table)).map(([field, column]) => {
    const value = changed.has(field) ? changed.get(field) : columnOf(name, column);
    return sql`${sql.raw(`'${field}'`)}, ${value}`;
  });
  return sql`json_object(${sql.join(fields, sql`,`)})`;
}

/** The condition that one of these changes is one. */
export function differsBy(table: SQLiteTable, name: string, changes: object): SQL {
  const columns = new Map(Object.entries(getTableColumns(table)));
  const differences = Object.entries(changes).flatMap(([field, value]) => {
    const column = columns.get(field);
    return column === undefined ? [] : [sql`${columnOf(name, column)} IS NOT ${value}`];
  });
  return differences.length === 0 ? sql`FALSE` : sql.join(differences, sql` OR `);
}

/** A younger row is usually on its way: its request relays it. */
const LEFT_BEHIND_MS = 500;
const MAX_SEARCHED = 500;

type Placed = Pick<OutboxEventRow, "accountId" | "roomId" | "occurredAt">;

/** The part behind FROM: rows of the room that an earlier request has left behind, by their `number`. */
const earlierEvents = ({ accountId, roomId, occurredAt }: Placed): SQL =>
  sql`(SELECT rowid AS number, room_id AS room FROM outbox_events
      WHERE account_id = ${accountId} AND occurred_at < ${occurredAt - LEFT_BEHIND_MS}
      ORDER BY occurred_at, rowid LIMIT ${MAX_SEARCHED}) AS earlier WHERE earlier.room = ${roomId}`;

export const selectEarlierEvents = (event: Placed, limit: number): Statement<OutboxEventRow> =>
  statement`SELECT ${RETURNED} FROM outbox_events WHERE rowid IN (SELECT number FROM ${earlierEvents(event)})
      ORDER BY occurred_at, rowid LIMIT ${limit}`;
