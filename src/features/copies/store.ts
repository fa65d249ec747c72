/** SQL of the list of scheduled copies. */
import { DAY_MS } from "@atrium/contract/time.ts";
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import { type CopyRow, copies, type Position } from "./table.ts";

const FIELDS = columnsOf(copies);

/** Begins the copy of a day (UTC) unless it exists, or one of the last 24 hours is unfinished. */
export const insertDueCopy = (now: number, position: Position): Statement =>
  statement`INSERT INTO copies (started_at, state, position)
    SELECT ${now}, 'copying', ${JSON.stringify(position)} WHERE NOT EXISTS (SELECT 1 FROM copies
      WHERE (state = 'copying' AND started_at > ${now - DAY_MS})
        OR (state = 'complete' AND started_at >= ${now - (now % DAY_MS)}))`;

/** Takes the unfinished copy for a run that ends before `until`, unless another run has it. */
export const takeCopy = (now: number, until: number): Statement<CopyRow> =>
  statement(
    build
      .update(copies)
      .set({ takenUntil: until })
      .where(
        sql`started_at = (SELECT max(started_at) FROM copies WHERE state = 'copying' AND started_at > ${now - DAY_MS})
          AND taken_until <= ${now}`,
      )
      .returning(FIELDS),
  );

/** Copies with a later, complete one that are older than `before` (epoch ms) or incomplete. */
export const selectExpiredCopies = (before: number): Statement<CopyRow> =>
  statement(
    build
      .select(FIELDS)
      .from(copies)
      .where(
        sql`started_at < (SELECT max(started_at) FROM copies WHERE state = 'complete')
          AND (started_at < ${before} OR state <> 'complete')`,
      )
      .orderBy(copies.startedAt),
  );

/** Returns a row unless another run has taken the copy over. */
export const updateTaken = (
  { startedAt, takenUntil }: CopyRow,
  values: Partial<CopyRow>,
): Statement<{ startedAt: number }> =>
  statement(
    build
      .update(copies)
      .set(values)
      .where(and(eq(copies.startedAt, startedAt), eq(copies.takenUntil, takenUntil)))
      .returning({ startedAt: copies.startedAt }),
  );

export const deleteCopy = ({ startedAt }: CopyRow): Statement =>
  statement(build.delete(copies).where(eq(copies.startedAt, startedAt)));

/** The start of the latest complete copy, or else of the first one; null without any. */
export const selectLatestCopy = (): Statement<{ at: number | null }> =>
  statement`SELECT coalesce(max(CASE state WHEN 'complete' THEN started_at END), min(started_at)) AS at FROM copies`;
