/** SQL of a move beside {@link selectSlice} and {@link upsertRows}: the anchor and the progress. */

import { sql } from "drizzle-orm";
import { type Statement, statement } from "../../platform/d1/d1.ts";
import type { moves } from "../../platform/d1/table.ts";
import type { Row } from "./statements.ts";
import type { OrganizationTable } from "./tables.ts";

export type MoveRow = typeof moves.$inferSelect;

const FIELDS = sql`account_id AS accountId, source, target, phase, step, cursor, fencing_token AS fencingToken,
    flipped_at AS flippedAt,
    started_at AS startedAt`;

/** The longest waiting first. */
export const selectMoves = (limit: number): Statement<{ accountId: string }> =>
  statement`SELECT account_id AS accountId FROM moves ORDER BY started_at LIMIT ${limit}`;

/** Takes a move over from whatever continued it before. */
export const takeFencingToken = (accountId: string, now: number): Statement<MoveRow> =>
  statement`UPDATE moves SET fencing_token = max(fencing_token + 1, ${now}) WHERE account_id = ${accountId}
      RETURNING ${FIELDS}`;

/** Records how far a move is, and returns a row, unless another run has taken it over. */
export const updateMove = (move: MoveRow): Statement<{ fencingToken: number }> =>
  statement`UPDATE moves SET source = ${move.source}, target = ${move.target}, phase = ${move.phase},
      step = ${move.step},
        cursor = ${move.cursor}, flipped_at = ${move.flippedAt}
      WHERE account_id = ${move.accountId} AND fencing_token = ${move.fencingToken}
      RETURNING fencing_token AS fencingToken`;

export const deleteMove = ({ accountId, fencingToken }: MoveRow): Statement =>
  statement`DELETE FROM moves WHERE account_id = ${accountId} AND fencing_token = ${fencingToken}`;

/** Names the target in the directory, in the batch of {@link updateMove} and before it. */
export const updatePlacement = ({
  accountId,
  target,
  fencingToken,
}: MoveRow): Statement => statement`UPDATE accounts SET database = ${target} WHERE id = ${accountId}
    AND EXISTS (SELECT 1 FROM moves WHERE account_id = accounts.id AND fencing_token = ${fencingToken})`;

/** Deletes some of an organization's rows, and returns a row for each. */
export function deleteRows(
  { name, where }: OrganizationTable,
  accountId: string,
  limit: number,
): Statement<{ deleted: number }> {
  const table = sql.identifier(name);
  return statement`DELETE FROM ${table} WHERE rowid IN (
      SELECT rowid FROM ${table} WHERE ${where(accountId)} LIMIT ${limit}) RETURNING 1 AS deleted`;
}

/** The row that an organization's other rows refer to. */
export const selectAnchor = (accountId: string): Statement<Row> =>
  statement`SELECT id, name, created_at, token_epoch FROM accounts WHERE id = ${accountId}`;

/** Writes the anchor. A row in the directory keeps all but its token epoch. */
export const upsertAnchor = (
  row: Row,
): Statement => statement`INSERT INTO accounts (id, name, created_at, token_epoch)
    VALUES (${row.id}, ${row.name}, ${row.created_at}, ${row.token_epoch})
    ON CONFLICT (id) DO UPDATE SET token_epoch = excluded.token_epoch`;

export const deleteAnchor = (accountId: string): Statement =>
  statement`DELETE FROM accounts WHERE id = ${accountId}`;

export const deleteQuotas = (accountId: string): Statement =>
  statement`DELETE FROM quotas WHERE account_id = ${accountId} AND in_directory = 0`;
