/** The statement that writes an event of D1 with its subscriptions, in the batch of the change. */
import { getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
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

export type Fragment = Pick<Statement, "sql" | "params">;

interface EventSource {
  /** SQL of the event's ID, for a statement that writes several; the entry's own by default. */
  readonly id?: string;
  /** The tables with their joins. One of them is `rooms`, if the event belongs to a room. */
  readonly from: string;
  readonly where: Fragment;
  /** Absent for an event that belongs to no room. */
  readonly room?: Fragment;
  readonly subject?: Fragment;
  readonly subscribers?: SubscriberKey["kind"];
}

const NULL: Fragment = { sql: "'null'", params: [] };

const RETURNED = Object.entries(getTableColumns(outboxEvents))
  .map(([field, column]) => `${column.name} AS "${field}"`)
  .join();

/** Writes the event and returns it, if the row that it is about exists, and its room, if it has one, is not deleted. */
export function insertEvent(
  tenant: Tenant,
  { id, event, roomId, occurredAt, trace }: EventEntry,
  { id: idOfRow, from, where, room, subject = NULL, subscribers }: EventSource,
): Statement<OutboxEventRow> {
  const subscriptions = subscriptionsAsJson(tenant, roomId, event, subscribers);
  const { accountId } = tenant;
  const earlier = earlierEvents({ accountId, roomId, occurredAt });
  const shownRoom = room ?? NULL;
  return {
    sql: `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed, trace)
          SELECT ${idOfRow ?? "?"}, ?, ?, ?, ?, ${shownRoom.sql}, ${subject.sql}, subscriptions.owed, ?
          FROM (${subscriptions.sql}) AS subscriptions, ${from}
          WHERE ${where.sql}${room === undefined ? "" : " AND rooms.deleted_at IS NULL"}
          RETURNING ${RETURNED}, EXISTS (SELECT 1 FROM ${earlier.sql}) AS "hasEarlier"`,
    params: [
      ...(idOfRow === undefined ? [id] : []),
      ...[accountId, event, roomId, occurredAt],
      ...shownRoom.params,
      ...subject.params,
      storeTrace(trace),
      ...subscriptions.params,
      ...where.params,
      ...earlier.params,
    ],
  };
}

/** SQL that returns a row of the table as JSON under its TypeScript names, with the `changes` that are to follow. */
export function rowAsJson(table: SQLiteTable, name: string, changes: object = {}): Fragment {
  const columns = Object.entries(getTableColumns(table));
  const changed = new Map(Object.entries(changes));
  const fields = columns.map(([field, column]) =>
    changed.has(field) ? `'${field}', ?` : `'${field}', ${name}.${column.name}`,
  );
  const params = columns.flatMap(([field]) => (changed.has(field) ? [changed.get(field)] : []));
  return { sql: `json_object(${fields.join()})`, params };
}

export function differsBy(table: SQLiteTable, name: string, changes: object): Fragment {
  const changed = new Map(Object.entries(changes));
  const columns = Object.entries(getTableColumns(table)).filter(([field]) => changed.has(field));
  return {
    sql: columns.map(([, column]) => `${name}.${column.name} IS NOT ?`).join(" OR ") || "FALSE",
    params: columns.map(([field]) => changed.get(field)),
  };
}

/** A younger row is usually on its way: its request relays it. */
const LEFT_BEHIND_MS = 500;
const MAX_SEARCHED = 500;

type Placed = Pick<OutboxEventRow, "accountId" | "roomId" | "occurredAt">;

/** The part behind FROM: rows of the room that an earlier request has left behind, by their `number`. */
const earlierEvents = ({ accountId, roomId, occurredAt }: Placed): Pick<Statement, "sql" | "params"> => ({
  sql: `(SELECT rowid AS number, room_id AS room FROM outbox_events WHERE account_id = ? AND occurred_at < ?
         ORDER BY occurred_at, rowid LIMIT ${MAX_SEARCHED}) AS earlier WHERE earlier.room = ?`,
  params: [accountId, occurredAt - LEFT_BEHIND_MS, roomId],
});

export function selectEarlierEvents(event: Placed, limit: number): Statement<OutboxEventRow> {
  const { sql, params } = earlierEvents(event);
  return {
    sql: `SELECT ${RETURNED} FROM outbox_events WHERE rowid IN (SELECT number FROM ${sql})
          ORDER BY occurred_at, rowid LIMIT ?`,
    params: [...params, limit],
  };
}
