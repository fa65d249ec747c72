/** The SQL of the events and room commands that wait in the outbox for their relay. */
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
import type { RoomCommand, TracedCommand } from "../../room/types/room-object.ts";
import { type OutboxEventRow, outbox, outboxEvents } from "./table.ts";

type PageBounds = Pick<Page, "limit" | "offset">;

type OutboxTable = "outbox" | "outbox_events";

/** Organizations whose rows one run relays; those of the others wait for the next one. */
const MAX_ACCOUNTS = 1_000;

/**
 * Organizations with rows from before `before` (epoch ms), in the order of their IDs: those from `firstId` on, then the
 * others.
 */
export function selectAccountsWith(
  table: OutboxTable,
  before: number,
  firstId: string,
): Statement<{ accountId: string }> {
  const writtenAt = table === "outbox" ? "created_at" : "occurred_at";
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

export const selectUnrelayed = (accountId: string): Statement<{ waits: 1 }> => ({
  sql: `SELECT 1 AS waits FROM outbox_events WHERE account_id = ?
          UNION ALL SELECT 1 FROM outbox WHERE account_id = ? LIMIT 1`,
  params: [accountId, accountId],
});

export const deleteRelayed = (table: OutboxTable, ids: readonly string[]): Statement => ({
  sql: `DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
  params: [JSON.stringify(ids)],
});

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
  erased: Erased,
): readonly [Statement, Statement] => {
  const file = { key: "deleted", filename: "deleted" };
  return [
    redactSubjects(erased, [accountId, roomId, "user.%", "$.id", userId]),
    redactSubjects(file, [accountId, roomId, "file.%", "$.uploadedBy", userId]),
  ];
};

/** Removes what identifies an identity from events that wait, in the fields that `erased` has. */
export const redactPendingIdentity = (
  { accountId }: Tenant,
  identityId: string,
  erased: Erased,
): readonly [Statement<never>, Statement<never>] => [
  redactSubjects(erased, [accountId, identityId, "identity.%", "$.id", identityId]),
  // A notification has the identity as a field.
  redactSubjects(
    Object.fromEntries(Object.entries(erased).map(([name, value]) => [`identity.${name}`, value])),
    [accountId, identityId, "notification", "$.identity.id", identityId],
  ),
];

type Erased = Readonly<Record<string, string | null>>;

function redactSubjects(
  erased: Erased,
  place: readonly [accountId: string, roomId: string, events: string, path: string, id: string],
): Statement<never> {
  const fields = Object.entries(erased);
  return {
    sql: `UPDATE outbox_events SET subject = json_set(subject, ${fields.map(() => "?, ?").join()})
          WHERE account_id = ? AND room_id = ? AND event LIKE ? AND json_extract(subject, ?) = ?`,
    params: [...fields.flatMap(([name, value]) => [`$.${name}`, value]), ...place],
  };
}

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

export const ROOMS_AT_ONCE = 1_000;

interface CommandForAll {
  readonly accountId: string;
  readonly command: string;
  readonly at: number;
}

/** The entry that says which rooms are left: those that follow its own in the order in which rooms online are found. */
export interface Unfinished {
  readonly id: string;
  readonly roomId: string;
  /** When its room was created, epoch ms: its `behind`. */
  readonly behind: number;
}

const isUnfinished = "json_extract(change, '$.behind') IS NOT NULL";

/** The rooms that a command is for: those online, and for the erasure of an identity each in which it has no user. */
function concernedBy(command: string): Pick<Statement, "sql" | "params"> {
  const parsed = JSON.parse(command) as RoomCommand;
  if (parsed.type !== "identity.erased") return { sql: "active_participants > 0", params: [] };
  const ofIdentity = "account_id = rooms.account_id AND identity_id = ? AND room_id = rooms.id";
  return {
    sql: `deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM users WHERE ${ofIdentity})`,
    params: [parsed.identityId],
  };
}

/** An SQL query of room IDs. */
export type RoomQuery = Pick<Statement, "sql" | "params">;

/**
 * Writes the command for some of the rooms that it is for: the first ones, or those behind the room of `from`, unless
 * these have been written meanwhile. While rooms may be left, the last entry says so by its field `behind`, so that its relay
 * goes on with {@link continueCommand}.
 */
export const insertForOnlineRooms = (
  { accountId, command, at }: CommandForAll,
  from: Unfinished | null = null,
  limit = ROOMS_AT_ONCE,
): Statement<{ id: string; roomId: string; isUnfinished: 0 | 1 }> => ({
  sql: `WITH slice AS (
          SELECT account_id, id, created_at FROM rooms WHERE account_id = ? AND ${concernedBy(command).sql}
            ${from === null ? "" : `AND created_at <= ? AND (created_at, id) < (?, ?) AND EXISTS (SELECT 1 FROM outbox WHERE id = ? AND ${isUnfinished})`}
          ORDER BY created_at DESC, id DESC LIMIT ?)
        INSERT INTO outbox (id, account_id, room_id, change, created_at)
        SELECT lower(hex(randomblob(16))), account_id, id,
          iif(row_number() OVER (ORDER BY created_at DESC, id DESC) = ?, json_set(?, '$.behind', created_at), ?), ?
        FROM slice RETURNING id, room_id AS "roomId", ${isUnfinished} AS "isUnfinished"`,
  params: [
    accountId,
    ...concernedBy(command).params,
    ...(from === null ? [] : [from.behind, from.behind, from.roomId, from.id]),
    ...[limit, limit, command, command, at],
  ],
});

/** Writes the command for those rooms of the query that are online, or that a join of an identity may bring online. */
export const insertForRooms = (
  { accountId, command, at }: CommandForAll,
  rooms: RoomQuery,
): Statement<{ id: string; roomId: string }> => ({
  sql: `INSERT INTO outbox (id, account_id, room_id, change, created_at)
        SELECT lower(hex(randomblob(16))), account_id, id, ?, ? FROM rooms
        WHERE account_id = ? AND id IN (${rooms.sql}) AND (active_participants > 0 OR joining_until > ?)
        RETURNING id, room_id AS "roomId"`,
  params: [command, at, accountId, ...rooms.params, at],
});

export const continueCommand = (
  all: CommandForAll,
  from: Unfinished,
  limit?: number,
): readonly [Statement, Statement] => [
  insertForOnlineRooms(all, from, limit),
  { sql: "UPDATE outbox SET change = json_remove(change, '$.behind') WHERE id = ?", params: [from.id] },
];

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
