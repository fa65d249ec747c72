/** The outbox's only SQL: rows are written in the batch that makes a change, and deleted once handed on. */
import { asc, eq, lt } from "drizzle-orm";
import { build, columnsOf, type Page, type Statement, statement } from "../platform/d1.ts";
import type { RoomCommand } from "./room-command.ts";
import { outbox } from "./table.ts";

/** A change on its way to its room. */
export interface OutboxEntry {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly command: RoomCommand;
}

/**
 * Writes the entry, and answers its id, if each of `conditions` selects a row; one that a later statement of
 * the batch removes counts. Without them a change to something that is not there, or is another
 * organization's, would still be told.
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

/** A page of the entries written before `before` (epoch ms), the oldest first: their hand-on was cut off. */
export const selectPendingCommands = (
  before: number,
  { limit, offset }: Pick<Page, "limit" | "offset">,
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
