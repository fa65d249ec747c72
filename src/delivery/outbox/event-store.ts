/** The statement that writes an event of D1, with the subscriptions it matches, in the batch of the change itself. */
import { getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { OperationContext, RequestContext } from "../../platform/context/context.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { storeTrace, type Trace } from "../../platform/trace.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import { earlierEvents } from "./earlier-events-store.ts";
import { subscriptionsAsJson } from "./subscription-store.ts";
import { type OutboxEventRow, outboxEvents } from "./table.ts";

/** An event that the batch will write. */
export interface EventEntry {
  readonly id: string;
  readonly event: OutboxEventRow["event"];
  readonly roomId: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** Of the request that causes it. */
  readonly trace: Trace | null;
}

/** A new event in a room, which occurs now. */
export const newEvent = (
  ctx: Pick<RequestContext, "newId" | "now"> & Pick<OperationContext, "trace">,
  event: EventEntry["event"],
  roomId: string,
): EventEntry => ({ id: ctx.newId(), event, roomId, occurredAt: ctx.now(), trace: ctx.trace });

/** A part of a statement, with the values of its placeholders. */
export type Fragment = Pick<Statement, "sql" | "params">;

/** Where the event's contents are from. */
interface EventSource {
  /** The tables, of which one is `rooms`, with their joins. */
  readonly from: string;
  /** Which row the event is about; the event is written if there is one. */
  readonly where: Fragment;
  /** The room's row as JSON. */
  readonly room: Fragment;
  /** The row that the event is about as JSON, if that is not the room. */
  readonly subject?: Fragment;
  /** Whom the event is for; all by default. */
  readonly subscribers?: SubscriberKey["kind"];
}

const RETURNED = Object.entries(getTableColumns(outboxEvents))
  .map(([field, column]) => `${column.name} AS "${field}"`)
  .join();

/** Writes the event and returns it, if the row that it is about exists, and its room is not deleted. */
export function insertEvent(
  tenant: Tenant,
  { id, event, roomId, occurredAt, trace }: EventEntry,
  { from, where, room, subject = { sql: "'null'", params: [] }, subscribers }: EventSource,
): Statement<OutboxEventRow> {
  const subscriptions = subscriptionsAsJson(tenant, roomId, event, subscribers);
  const earlier = earlierEvents({ accountId: tenant.accountId, roomId, occurredAt });
  return {
    sql: `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed, trace)
          SELECT ?, rooms.account_id, ?, rooms.id, ?, ${room.sql}, ${subject.sql}, subscriptions.owed, ?
          FROM (${subscriptions.sql}) AS subscriptions, ${from}
          WHERE ${where.sql} AND rooms.deleted_at IS NULL
          RETURNING ${RETURNED}, EXISTS (SELECT 1 FROM ${earlier.sql}) AS "hasEarlier"`,
    params: [
      ...[id, event, occurredAt],
      ...room.params,
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

/** A condition that holds if the `changes` would change the row. */
export function differsBy(table: SQLiteTable, name: string, changes: object): Fragment {
  const changed = new Map(Object.entries(changes));
  const columns = Object.entries(getTableColumns(table)).filter(([field]) => changed.has(field));
  return {
    sql: columns.map(([, column]) => `${name}.${column.name} IS NOT ?`).join(" OR ") || "FALSE",
    params: columns.map(([field]) => changed.get(field)),
  };
}
