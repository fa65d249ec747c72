/** Collects the rows of one slice of an archive: those behind a row, or those that have changed since. */

import { changesAfter, forgetChanges } from "./change-store.ts";
import type { ArchivedRow, ArchiveSlice, ArchiveValue } from "./object-archive.ts";
import { rowOf, rowsAfter, type Sql, type TableShape } from "./row-store.ts";

/** A slice ends with the row that exceeds one of these; a row has up to 2 MB. */
export const LIMITS = { rows: 5_000, bytes: 1024 * 1024 };
/** Slices of changes are larger by this: they overtake those who write. */
const CHANGES_FACTOR = 4;

/** Behind a row, or behind a change. */
export type Position =
  | { readonly table: string; readonly key: readonly ArchiveValue[] }
  | { readonly changes: number };

/** `next` is null at the end. */
export type Collected = Pick<ArchiveSlice, "rows" | "deleted"> & { readonly next: Position | null };

/** In the order of the tables and of their keys; what has changed follows. */
export function collectRows(
  sql: Sql,
  shapes: readonly TableShape[],
  after: Extract<Position, { readonly table: string }> | null,
  limits: typeof LIMITS,
): Collected {
  const rows: ArchivedRow[] = [];
  let [bytes, next] = [0, after];
  const first = after === null ? 0 : shapes.findIndex(({ name }) => name === after.table);
  for (const [index, shape] of shapes.slice(first).entries()) {
    const from = index === 0 ? (after?.key ?? null) : null;
    for (const { row, key, bytes: size } of rowsAfter(sql, shape, from)) {
      if (rows.length >= limits.rows || bytes >= limits.bytes) return { rows, deleted: [], next };
      rows.push(row);
      bytes += size;
      next = { table: shape.name, key };
    }
  }
  return { rows, deleted: [], next: { changes: 0 } };
}

/** The rows that were changed after the change `after`, as they are now; those before it are forgotten. */
export function collectChanges(
  sql: Sql,
  shapes: readonly TableShape[],
  after: number,
  limits: typeof LIMITS,
): Collected {
  const rows: ArchivedRow[] = [];
  const deleted: ArchivedRow[] = [];
  let [bytes, last] = [0, after];
  forgetChanges(sql, after);
  for (const { number, table, key } of changesAfter(sql, after)) {
    const isFull = rows.length + deleted.length >= CHANGES_FACTOR * limits.rows;
    if (isFull || bytes >= CHANGES_FACTOR * limits.bytes) return { rows, deleted, next: { changes: last } };
    last = number;
    const shape = shapes.find(({ name }) => name === table);
    const found = shape && rowOf(sql, shape, key);
    if (found) rows.push(found.row);
    else deleted.push({ table, values: key });
    bytes += found?.bytes ?? 0;
  }
  return { rows, deleted, next: null };
}
