/** The SQL that moves an organization beside {@link selectSlice} and {@link upsertRows}: its anchor, and how far it is. */

import type { Statement } from "../../platform/d1/d1.ts";
import type { moves } from "../../platform/d1/table.ts";
import type { Row } from "./statements.ts";
import type { OrganizationTable } from "./tables.ts";

export type MoveRow = typeof moves.$inferSelect;

const FIELDS = `account_id AS accountId, source, target, phase, step, cursor, fencing_token AS fencingToken, flipped_at AS flippedAt,
  started_at AS startedAt`;

/** The longest waiting first. */
export const selectMoves = (limit: number): Statement<{ accountId: string }> => ({
  sql: "SELECT account_id AS accountId FROM moves ORDER BY started_at LIMIT ?",
  params: [limit],
});

/** Takes a move over from whatever continued it before. */
export const takeFencingToken = (accountId: string, now: number): Statement<MoveRow> => ({
  sql: `UPDATE moves SET fencing_token = max(fencing_token + 1, ?) WHERE account_id = ? RETURNING ${FIELDS}`,
  params: [now, accountId],
});

/** Records how far a move is, and returns a row, unless another run has taken it over. */
export const updateMove = (move: MoveRow): Statement<{ fencingToken: number }> => ({
  sql: `UPDATE moves SET source = ?, target = ?, phase = ?, step = ?, cursor = ?, flipped_at = ?
        WHERE account_id = ? AND fencing_token = ? RETURNING fencing_token AS fencingToken`,
  params: [
    ...[move.source, move.target, move.phase, move.step, move.cursor, move.flippedAt],
    ...[move.accountId, move.fencingToken],
  ],
});

export const deleteMove = ({ accountId, fencingToken }: MoveRow): Statement => ({
  sql: "DELETE FROM moves WHERE account_id = ? AND fencing_token = ?",
  params: [accountId, fencingToken],
});

/** Names the target in the directory, in the batch of {@link updateMove} and before it. */
export const updatePlacement = ({ accountId, target, fencingToken }: MoveRow): Statement => ({
  sql: `UPDATE accounts SET database = ? WHERE id = ?
          AND EXISTS (SELECT 1 FROM moves WHERE account_id = accounts.id AND fencing_token = ?)`,
  params: [target, accountId, fencingToken],
});

/** Deletes some of an organization's rows, and returns a row for each. */
export const deleteRows = (
  { name, where, paramsOf }: OrganizationTable,
  accountId: string,
  limit: number,
): Statement<{ deleted: number }> => ({
  sql: `DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM ${name} WHERE ${where} LIMIT ?) RETURNING 1 AS deleted`,
  params: [...paramsOf(accountId), limit],
});

/** The row that an organization's other rows refer to. */
export const selectAnchor = (accountId: string): Statement<Row> => ({
  sql: "SELECT id, name, created_at, token_epoch FROM accounts WHERE id = ?",
  params: [accountId],
});

/** In the directory, the name and the rest stay as they are. */
export const upsertAnchor = (row: Row): Statement => ({
  sql: `INSERT INTO accounts (id, name, created_at, token_epoch) VALUES (?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET token_epoch = excluded.token_epoch`,
  params: [row.id, row.name, row.created_at, row.token_epoch],
});

export const deleteAnchor = (accountId: string): Statement => ({
  sql: "DELETE FROM accounts WHERE id = ?",
  params: [accountId],
});

export const deleteQuotas = (accountId: string): Statement => ({
  sql: "DELETE FROM quotas WHERE account_id = ? AND in_directory = 0",
  params: [accountId],
});
