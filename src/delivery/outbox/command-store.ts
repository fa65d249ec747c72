/** The SQL of the room commands that wait in the outbox. */
import { and, asc, eq, lt } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import type { TracedCommand } from "../../room/types/room-object.ts";
import { accountsWith, type PageBounds } from "./outbox-store.ts";
import { outbox } from "./table.ts";

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

/** Rooms that get a command in one statement. */
export const ROOMS_AT_ONCE = 1_000;

/** A command for all of an organization's rooms with users online. */
interface CommandForAll {
  readonly accountId: string;
  /** A `RoomCommand` as JSON. */
  readonly command: string;
  /** When it was given, epoch ms. */
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

/**
 * Writes the command for some of the rooms: the first ones, or those behind the room of `from`, unless these have been
 * written meanwhile. While rooms may be left, the last entry says so by its field `behind`, so that its relay
 * goes on with {@link continueCommand}.
 */
export const insertForOnlineRooms = (
  { accountId, command, at }: CommandForAll,
  from: Unfinished | null = null,
  limit = ROOMS_AT_ONCE,
): Statement<{ id: string; roomId: string; isUnfinished: 0 | 1 }> => ({
  sql: `WITH slice AS (
          SELECT account_id, id, created_at FROM rooms WHERE account_id = ? AND active_participants > 0
            ${from === null ? "" : `AND created_at <= ? AND (created_at, id) < (?, ?) AND EXISTS (SELECT 1 FROM outbox WHERE id = ? AND ${isUnfinished})`}
          ORDER BY created_at DESC, id DESC LIMIT ?)
        INSERT INTO outbox (id, account_id, room_id, change, created_at)
        SELECT lower(hex(randomblob(16))), account_id, id,
          iif(row_number() OVER (ORDER BY created_at DESC, id DESC) = ?, json_set(?, '$.behind', created_at), ?), ?
        FROM slice RETURNING id, room_id AS "roomId", ${isUnfinished} AS "isUnfinished"`,
  params: [
    accountId,
    ...(from === null ? [] : [from.behind, from.behind, from.roomId, from.id]),
    ...[limit, limit, command, command, at],
  ],
});

/** Writes the command for some more rooms; the entry that said that they are left says it no more. */
export const continueCommand = (
  all: CommandForAll,
  from: Unfinished,
  limit?: number,
): readonly [Statement, Statement] => [
  insertForOnlineRooms(all, from, limit),
  { sql: "UPDATE outbox SET change = json_remove(change, '$.behind') WHERE id = ?", params: [from.id] },
];

export const deleteOutboxEntries = (ids: readonly string[]): Statement => ({
  sql: "DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))",
  params: [JSON.stringify(ids)],
});

/** Organizations with entries written before `before` (epoch ms): their relay was cut off. */
export const selectAccountsOfCommands = (before: number, firstId: string) =>
  accountsWith("outbox", "created_at", before, firstId);

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
