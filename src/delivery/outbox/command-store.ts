/** The SQL of the room commands that wait in the outbox. */
import { and, asc, eq, lt } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1.ts";
import type { TracedCommand } from "../../realtime/port/room-command.ts";
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
