/** The SQL of the events that wait in the outbox for their relay. */
import { and, asc, eq, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  FENCED,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { type OutboxEventRow, outboxEvents } from "./table.ts";

export type PageBounds = Pick<Page, "limit" | "offset">;

/** Organizations whose rows one run relays; those of the others wait for the next one. */
const MAX_ACCOUNTS = 1_000;

/**
 * Organizations with rows from before `before` (epoch ms), in the order of their IDs: those from `firstId` on, then the
 * others.
 */
export function accountsWith(
  table: "outbox" | "outbox_events",
  writtenAt: "created_at" | "occurred_at",
  before: number,
  firstId: string,
): Statement<{ accountId: string }> {
  // From one organization to the next by the index, however many rows each of them has.
  const walk = (name: string, from: string, isGoingOn: string) =>
    `${name} (id) AS (
       SELECT min(account_id) FROM ${table} WHERE account_id >= ${from}
       UNION ALL
       SELECT (SELECT min(account_id) FROM ${table} WHERE account_id > ${name}.id) FROM ${name} WHERE ${isGoingOn}
     )`;
  return {
    sql: `WITH RECURSIVE ${walk("later_accounts", "?1", "id IS NOT NULL")},
            ${walk("earlier_accounts", "''", "id < ?1")},
            accounts_with_rows (id) AS (
              SELECT id FROM later_accounts UNION ALL SELECT id FROM earlier_accounts WHERE id < ?1
            )
          SELECT id AS accountId FROM accounts_with_rows
          WHERE EXISTS (SELECT 1 FROM ${table} WHERE account_id = accounts_with_rows.id AND ${writtenAt} < ?2)
            AND id NOT IN ${FENCED}
          LIMIT ${MAX_ACCOUNTS}`,
    params: [firstId, before],
  };
}

/** The same of events. */
export const selectAccountsOfEvents = (before: number, firstId: string) =>
  accountsWith("outbox_events", "occurred_at", before, firstId);

/** One row if anything of the organization waits for its relay. */
export const selectUnrelayed = (accountId: string): Statement<{ waits: 1 }> => ({
  sql: `SELECT 1 AS waits FROM outbox_events WHERE account_id = ?
          UNION ALL SELECT 1 FROM outbox WHERE account_id = ? LIMIT 1`,
  params: [accountId, accountId],
});

export const deleteEvents = (ids: readonly string[]): Statement => ({
  sql: "DELETE FROM outbox_events WHERE id IN (SELECT value FROM json_each(?))",
  params: [JSON.stringify(ids)],
});

/** Records which subscriptions the event has yet to reach, as JSON. */
export const updatePendingSubscriptions = (id: string, pendingSubscriptions: string): Statement =>
  statement(build.update(outboxEvents).set({ pendingSubscriptions }).where(eq(outboxEvents.id, id)));

/** A page of an organization's events from before `before` (epoch ms), oldest first. */
export const selectPendingEvents = (
  accountId: string,
  before: number,
  { limit, offset }: PageBounds,
): Statement<OutboxEventRow> =>
  statement(
    build
      .select(columnsOf(outboxEvents))
      .from(outboxEvents)
      .where(and(eq(outboxEvents.accountId, accountId), lt(outboxEvents.occurredAt, before)))
      .orderBy(asc(outboxEvents.occurredAt), sql`rowid`)
      .limit(limit)
      .offset(offset),
  );

/**
 * Removes what identifies a user of the room from events that wait, in the fields that `erased` has, and the names of
 * the files that they uploaded.
 */
export const redactPendingEvents = (
  { accountId }: Tenant,
  roomId: string,
  userId: string,
  erased: Readonly<Record<string, string | null>>,
): readonly [Statement, Statement] => {
  const fields = Object.entries(erased);
  const where = `account_id = ? AND room_id = ? AND event LIKE ? AND json_extract(subject, ?) = ?`;
  return [
    {
      sql: `UPDATE outbox_events SET subject = json_set(subject, ${fields.map(() => "?, ?").join()}) WHERE ${where}`,
      params: [
        ...fields.flatMap(([name, value]) => [`$.${name}`, value]),
        ...[accountId, roomId, "user.%", "$.id", userId],
      ],
    },
    {
      sql: `UPDATE outbox_events SET subject = json_set(subject, '$.key', 'deleted', '$.filename', 'deleted') WHERE ${where}`,
      params: [accountId, roomId, "file.%", "$.uploadedBy", userId],
    },
  ];
};
