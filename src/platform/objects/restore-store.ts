/** Restores slices of an archive into an empty object, which refuses calls until it is whole. */

import type { ArchivedPart, ArchiveSlice } from "./archive-slice.ts";
import type { ArchiveRefusal } from "./object-archive.ts";
import { RESTORING_TABLE } from "./object-tables.ts";
import {
  deleteRow,
  isSequence,
  partsOf,
  type Sql,
  shapeOf,
  type TableShape,
  writeRow,
  writeSequence,
} from "./row-store.ts";

const RESTORED = "restored";

interface Restoring {
  readonly reading: string;
  readonly isWhole: boolean;
}

const hasTable = (sql: Sql, name: string): boolean =>
  sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;

export function readRestoring(sql: Sql): Restoring | null {
  if (!hasTable(sql, RESTORING_TABLE)) return null;
  const query = `SELECT reading, is_whole AS isWhole FROM ${RESTORING_TABLE}`;
  const { reading, isWhole } = sql.exec<{ reading: string; isWhole: number }>(query).one();
  return { reading, isWhole: isWhole === 1 };
}

export function refusalOf(sql: Sql, slice: ArchiveSlice): ArchiveRefusal | "restored" | null {
  const restoring = readRestoring(sql);
  if (restoring?.reading === slice.reading) return null;
  const isEmpty = restoring === null && partsOf(sql).length === 0;
  if (restoring === null && !isEmpty) return restoredFrom(sql) === slice.reading ? "restored" : IN_USE;
  if (slice.schema.length > 0) return null;
  return isEmpty && slice.rows.length === 0 ? null : MISSING; // an object that stored nothing
}

const IN_USE: ArchiveRefusal = {
  code: "CONFLICT",
  message: "The object stores something already; restore into one that is empty",
};
const MISSING: ArchiveRefusal = {
  code: "CONFLICT",
  message: "Slices of the archive are missing; restore it from its first one",
};

function restoredFrom(sql: Sql): string | null {
  if (!hasTable(sql, "facts")) return null;
  const query = "SELECT value FROM facts WHERE name = ?";
  return sql.exec<{ value: string }>(query, RESTORED).toArray()[0]?.value ?? null;
}

export function writeSlice(sql: Sql, slice: ArchiveSlice): void {
  if (readRestoring(sql)?.reading !== slice.reading) begin(sql, slice);
  const shapes = new Map<string, TableShape>();
  const shape = (table: string): TableShape => {
    const found = shapes.get(table) ?? shapeOf(sql, table);
    if (found === null) throw new Error(`The archive has rows of a table that it does not have: ${table}`);
    shapes.set(table, found);
    return found;
  };
  for (const { table, values } of slice.deleted) deleteRow(sql, shape(table), values);
  for (const row of slice.rows) {
    if (isSequence(row)) writeSequence(sql, row);
    else writeRow(sql, shape(row.table), row.values);
  }
  if (slice.cursor === null) sql.exec(`UPDATE ${RESTORING_TABLE} SET is_whole = 1`);
}

/** Drops the remains of an earlier attempt. Triggers are created last: they would count the rows again. */
function begin(sql: Sql, { reading, schema }: ArchiveSlice): void {
  for (const { type, name } of partsOf(sql)) if (type === "table") sql.exec(`DROP TABLE "${name}"`);
  sql.exec(`DROP TABLE IF EXISTS ${RESTORING_TABLE}`);
  for (const part of schema) if (part.type !== "trigger") sql.exec(part.sql);
  sql.exec(
    `CREATE TABLE ${RESTORING_TABLE} (reading TEXT NOT NULL, triggers TEXT NOT NULL, is_whole INTEGER NOT NULL)`,
  );
  const triggers = schema.filter(({ type }) => type === "trigger");
  sql.exec(`INSERT INTO ${RESTORING_TABLE} VALUES (?, ?, 0)`, reading, JSON.stringify(triggers));
}

export function endRestore(sql: Sql): void {
  const { triggers } = sql.exec<{ triggers: string }>(`SELECT triggers FROM ${RESTORING_TABLE}`).one();
  for (const part of parseParts(triggers)) sql.exec(part.sql);
  sql.exec(`DROP TABLE ${RESTORING_TABLE}`);
}

/** Lets a repeated restore see that it is complete. */
export const recordRestored = (sql: Sql, reading: string): void => {
  sql.exec("INSERT OR REPLACE INTO facts VALUES (?, ?)", RESTORED, reading);
};

const parseParts = (json: string): ArchivedPart[] => JSON.parse(json) as ArchivedPart[];
