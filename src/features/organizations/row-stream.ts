/** The rows of an organization's tables, slice by slice: for moves, which write them elsewhere, and for backups. */
import type { Database } from "../../platform/d1/d1.ts";
import { type Row, selectSlice } from "./statements.ts";
import type { OrganizationTable } from "./tables.ts";

/** The position behind a row: its values of the columns of the table's order. */
export type RowPosition = readonly (string | number | null)[];

export interface RowSlice {
  readonly rows: readonly Row[];
  /** Null when there is nothing behind them. */
  readonly after: RowPosition | null;
}

/** The rows behind a position, or the first ones. */
export async function readSlice(
  db: Database,
  table: OrganizationTable,
  accountId: string,
  after: RowPosition | null,
): Promise<RowSlice> {
  const results = await db.run(selectSlice(table, accountId, after));
  const rows = results.flat().slice(0, table.atOnce);
  const last = rows.length < table.atOnce ? undefined : rows.at(-1);
  return { rows, after: last === undefined ? null : table.order.map(({ column }) => last[column] ?? null) };
}
