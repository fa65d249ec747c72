/** The SQL of the outbox: room commands, events that wait for their relay, and who subscribes to what. */
import { and, asc, eq, getTableColumns, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  FENCED,
  isNotFenced,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1.ts";
import type { TracedCommand } from "../../realtime/port/room-command.ts";
import type { EventName } from "../port/event-name.ts";
import type { SubscriberKey } from "../port/subscriber-port.ts";
import type { RoomSubscription } from "../port/subscription.ts";
import { type OutboxEventRow, outbox, outboxEvents, userEvents } from "./table.ts";

type PageBounds = Pick<Page, "limit" | "offset">;

/** A command on its way to its room. */
export interface OutboxEntry {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly command: TracedCommand;
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

/** Organizations whose rows one run relays; those of the others wait for the next one. */
const MAX_ACCOUNTS = 1_000;

const accountsWith = (
  table: "outbox" | "outbox_events",
  writtenAt: "created_at" | "occurred_at",
  before: number,
): Statement<{ accountId: string }> => ({
  // From one organization to the next by the index, however many rows each of them has.
  sql: `WITH RECURSIVE accounts_with_rows (id) AS (
          SELECT min(account_id) FROM ${table}
          UNION ALL
          SELECT (SELECT min(account_id) FROM ${table} WHERE account_id > accounts_with_rows.id)
          FROM accounts_with_rows WHERE id IS NOT NULL
        )
        SELECT id AS accountId FROM accounts_with_rows
        WHERE EXISTS (SELECT 1 FROM ${table} WHERE account_id = accounts_with_rows.id AND ${writtenAt} < ?)
          AND id NOT IN ${FENCED}
        LIMIT ${MAX_ACCOUNTS}`,
  params: [before],
});

/** Organizations with entries written before `before` (epoch ms): their relay was cut off. */
export const selectAccountsOfCommands = (before: number) => accountsWith("outbox", "created_at", before);

/** The same of events. */
export const selectAccountsOfEvents = (before: number) =>
  accountsWith("outbox_events", "occurred_at", before);

/** A page of an organization's entries written before `before` (epoch ms), oldest first. */
export const selectPendingCommands = (
  accountId: string,
  before: number,
  { limit, offset }: PageBounds,
): Statement<typeof outbox.$inferSelect> =>
  statement(
    build
      .select(columnsOf(outbox))
      .from(outbox)
      .where(and(eq(outbox.accountId, accountId), lt(outbox.createdAt, before)))
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
export const selectSubscriptions = (tenant: Tenant, roomId: string): Statement<RoomSubscription> => ({
  sql: SUBSCRIPTIONS,
  params: subscriptionParams(tenant, roomId),
});

const enabledOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events, room_id AS roomId FROM ${kind}s
   WHERE account_id = ? AND enabled`;

/** A subscription with the room that it is for. */
export interface OrganizationSubscription extends RoomSubscription {
  /** Null for all rooms. */
  readonly roomId: string | null;
}

/** All subscriptions of the organization. */
export const selectAllSubscriptions = ({ accountId }: Tenant): Statement<OrganizationSubscription> => ({
  sql: `${enabledOf("webhook")} UNION ALL ${enabledOf("workflow")}`,
  params: [accountId, accountId],
});

/** A subquery for one event's subscriptions as JSON, in `owed`: the log's, and those of the subscribers that want it. */
export const subscriptionsAsJson = (
  tenant: Tenant,
  roomId: string,
  event: EventName,
  only: SubscriberKey["kind"] | "any" = "any",
): Statement => ({
  sql: `SELECT json_insert(
          json_group_array(json_object('kind', kind, 'id', id, 'version', version)),
          '$[#]', json_object('kind', 'log', 'id', '', 'version', 0)
        ) AS owed FROM (${SUBSCRIPTIONS}) WHERE instr(events, ?) AND ? IN (kind, 'any')`,
  params: [...subscriptionParams(tenant, roomId), JSON.stringify(event), only],
});

/** Takes over what an earlier version of the service has left in its own table before `before` (epoch ms). */
export const adoptUserEvents = (before: number): readonly [Statement, Statement] => [
  {
    sql: `INSERT OR IGNORE INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
          SELECT id, account_id, event, json_extract(room, '$.id'), occurred_at, room, user, owed
          FROM user_events WHERE occurred_at < ? AND account_id NOT IN ${FENCED} ORDER BY occurred_at, rowid`,
    params: [before],
  },
  statement(
    build.delete(userEvents).where(and(lt(userEvents.occurredAt, before), isNotFenced(userEvents.accountId))),
  ),
];

export const deleteEvent = (id: string): Statement =>
  statement(build.delete(outboxEvents).where(eq(outboxEvents.id, id)));

/** A younger row is usually on its way: its request relays it. */
const LEFT_BEHIND_MS = 500;
/** How many of an organization's rows are looked at, the oldest first: after an outage there may be very many. */
const MAX_SEARCHED = 500;

type Placed = Pick<OutboxEventRow, "accountId" | "roomId" | "occurredAt">;

/** What follows FROM: the rows of the room that an earlier request has left behind, by their `number`. */
export const earlierEvents = ({
  accountId,
  roomId,
  occurredAt,
}: Placed): Pick<Statement, "sql" | "params"> => ({
  sql: `(SELECT rowid AS number, room_id AS room FROM outbox_events WHERE account_id = ? AND occurred_at < ?
         ORDER BY occurred_at, rowid LIMIT ${MAX_SEARCHED}) AS earlier WHERE earlier.room = ?`,
  params: [accountId, occurredAt - LEFT_BEHIND_MS, roomId],
});

/** The same rows, the oldest first, at most so many. */
export function selectEarlierEvents(event: Placed, limit: number): Statement<OutboxEventRow> {
  const { sql, params } = earlierEvents(event);
  const columns = Object.entries(getTableColumns(outboxEvents)).map(
    ([field, column]) => `${column.name} AS "${field}"`,
  );
  return {
    sql: `SELECT ${columns.join()} FROM outbox_events WHERE rowid IN (SELECT number FROM ${sql})
          ORDER BY occurred_at, rowid LIMIT ?`,
    params: [...params, limit],
  };
}

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
