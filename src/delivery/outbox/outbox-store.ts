/** The SQL of the events and room commands that wait in the outbox for their relay. */
import { and, asc, eq, lt, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  FENCED,
  listed,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import type { RoomCommand, TracedCommand } from "../../room/types/room-object.ts";
import { type OutboxEventRow, outbox, outboxEvents } from "./table.ts";

type PageBounds = Pick<Page, "limit" | "offset">;

const TABLES = {
  outbox: { table: outbox, writtenAt: sql`created_at` },
  outbox_events: { table: outboxEvents, writtenAt: sql`occurred_at` },
};
type OutboxTable = keyof typeof TABLES;

/** Organizations whose rows one run relays; the others wait for the next run. */
const MAX_ACCOUNTS = 1_000;

/** Organizations with rows from before `before` (epoch ms), ordered by ID from `firstId` on, then wrapped around. */
export function selectAccountsWith(
  name: OutboxTable,
  before: number,
  firstId: string,
): Statement<{ accountId: string }> {
  const { table, writtenAt } = TABLES[name];
  // Loose index scan: one step per organization, however many rows it has.
  const walk = (walked: SQL, from: string, isGoingOn: SQL) =>
    sql`${walked} (id) AS (
          SELECT min(account_id) FROM ${table} WHERE account_id >= ${from}
          UNION ALL
          SELECT (SELECT min(account_id) FROM ${table} WHERE account_id > ${walked}.id) FROM ${walked}
            WHERE ${isGoingOn}
        )`;
  return statement`WITH RECURSIVE ${walk(sql`later_accounts`, firstId, sql`id IS NOT NULL`)},
        ${walk(sql`earlier_accounts`, "", sql`id < ${firstId}`)},
        accounts_with_rows (id) AS (
          SELECT id FROM later_accounts UNION ALL SELECT id FROM earlier_accounts WHERE id < ${firstId}
        )
      SELECT id AS accountId FROM accounts_with_rows
      WHERE EXISTS (SELECT 1 FROM ${table} WHERE account_id = accounts_with_rows.id AND ${writtenAt} < ${before})
        AND id NOT IN ${FENCED}
      LIMIT ${MAX_ACCOUNTS}`;
}

export const selectUnrelayed = (accountId: string): Statement<{ waits: 1 }> =>
  statement`SELECT 1 AS waits FROM outbox_events WHERE account_id = ${accountId}
      UNION ALL SELECT 1 FROM outbox WHERE account_id = ${accountId} LIMIT 1`;

export const deleteRelayed = (name: OutboxTable, ids: readonly string[]): Statement =>
  statement`DELETE FROM ${TABLES[name].table} WHERE id IN ${listed(ids)}`;

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
 * Redacts a user of the room in pending events: the fields in `erased`, and the names of the files that the
 * user uploaded.
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

/** Redacts an identity in pending events: the fields in `erased`. */
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
  [accountId, roomId, events, path, id]: readonly [
    accountId: string,
    roomId: string,
    events: string,
    path: string,
    id: string,
  ],
): Statement<never> {
  const fields = Object.entries(erased).map(([name, value]) => sql`, ${`$.${name}`}, ${value}`);
  return statement`UPDATE outbox_events SET subject = json_set(subject${sql.join(fields)})
      WHERE account_id = ${accountId} AND room_id = ${roomId} AND event LIKE ${events}
        AND json_extract(subject, ${path}) = ${id}`;
}

export interface OutboxEntry {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly command: TracedCommand;
}

/**
 * Writes the entry and returns its id, provided that each of `conditions` holds before the later statements of the batch
 * run. The conditions keep a change of a missing or foreign row from reaching a room.
 */
export const insertOutboxEntry = (
  entry: OutboxEntry,
  conditions: readonly [SQL, ...SQL[]],
  now: number,
): Statement<{ id: string }> =>
  statement`INSERT INTO outbox (id, account_id, room_id, change, created_at)
      SELECT ${entry.id}, ${entry.accountId}, ${entry.roomId}, ${JSON.stringify(entry.command)}, ${now}
      WHERE ${sql.join([...conditions], sql` AND `)} RETURNING id`;

export const ROOMS_AT_ONCE = 1_000;

interface CommandForAll {
  readonly accountId: string;
  readonly command: string;
  readonly at: number;
}

/** The entry that continues the command: rooms behind its own, in the order of the rooms online, are left. */
export interface Unfinished {
  readonly id: string;
  readonly roomId: string;
  /** Creation of its room (epoch ms), as in the field `behind`. */
  readonly behind: number;
}

const IS_UNFINISHED = sql`json_extract(change, '$.behind') IS NOT NULL`;

/**
 * The rooms that receive a command, by conditions that each have an index: rooms online and rooms that are watched; for
 * an erased identity, all rooms in which it has no user.
 */
function concernedBy(command: string, at: number): readonly SQL[] {
  const parsed = JSON.parse(command) as RoomCommand;
  if (parsed.type !== "identity.erased")
    return [sql`active_participants > 0`, sql`watched_until > 0 AND watched_until > ${at}`];
  const isElsewhere = sql`deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM users
      WHERE account_id = rooms.account_id AND identity_id = ${parsed.identityId} AND room_id = rooms.id)`;
  return [isElsewhere];
}

/**
 * Writes the command for a chunk of its rooms: the first ones, or the rooms behind that of `from`, unless these
 * were written meanwhile. The field `behind` of the last entry marks that rooms may be left, and its relay goes
 * on with {@link continueCommand}.
 */
export function insertForOnlineRooms(
  { accountId, command, at }: CommandForAll,
  from: Unfinished | null = null,
  limit = ROOMS_AT_ONCE,
): Statement<{ id: string; roomId: string; isUnfinished: 0 | 1 }> {
  const isBehind =
    from === null
      ? sql`TRUE`
      : sql`created_at <= ${from.behind} AND (created_at, id) < (${from.behind}, ${from.roomId})
          AND EXISTS (SELECT 1 FROM outbox WHERE id = ${from.id} AND ${IS_UNFINISHED})`;
  const concerned = concernedBy(command, at).map(
    (condition) => sql`SELECT account_id, id, created_at FROM rooms
        WHERE account_id = ${accountId} AND ${condition} AND ${isBehind}`,
  );
  return statement`WITH slice AS (${sql.join(concerned, sql` UNION `)}
        ORDER BY created_at DESC, id DESC LIMIT ${limit})
      INSERT INTO outbox (id, account_id, room_id, change, created_at)
      SELECT lower(hex(randomblob(16))), account_id, id, iif(row_number() OVER (ORDER BY created_at DESC,
        id DESC) = ${limit},
          json_set(${command}, '$.behind', created_at), ${command}), ${at}
      FROM slice RETURNING id, room_id AS "roomId", ${IS_UNFINISHED} AS "isUnfinished"`;
}

/** Writes the command for those rooms of the query that are online, or that a join of an identity may bring online. */
export const insertForRooms = (
  { accountId, command, at }: CommandForAll,
  rooms: SQL,
): Statement<{ id: string; roomId: string }> =>
  statement`INSERT INTO outbox (id, account_id, room_id, change, created_at)
      SELECT lower(hex(randomblob(16))), account_id, id, ${command}, ${at} FROM rooms
      WHERE account_id = ${accountId} AND id IN (${rooms}) AND (active_participants > 0 OR joining_until > ${at})
      RETURNING id, room_id AS "roomId"`;

export const continueCommand = (
  all: CommandForAll,
  from: Unfinished,
  limit?: number,
): readonly [Statement, Statement] => [
  insertForOnlineRooms(all, from, limit),
  statement`UPDATE outbox SET change = json_remove(change, '$.behind') WHERE id = ${from.id}`,
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
