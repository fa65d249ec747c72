/** The rows of any table of an object's database, read and written by their primary keys, as archives hold them. */
import { base64ToBytes, bytesToBase64 } from "../crypto/encoding.ts";
import type { ArchivedPart, ArchivedRow, ArchiveValue } from "./archive-slice.ts";
import { CHANGES_TABLE, CHANGES_TRIGGER, RESTORING_TABLE } from "./object-tables.ts";

export type Sql = Pick<SqlStorage, "exec">;

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

interface KeyedRow {
  readonly row: ArchivedRow;
  readonly key: readonly ArchiveValue[];
  readonly bytes: number;
}

const ROW_BYTES = 50;
/** Few enough to be held in memory, whatever they contain. */
const ROWS_AT_ONCE = 16;

/** Tables of the platform and of the archive itself. */
const NOT_ARCHIVED = `(name LIKE '\\_cf%' ESCAPE '\\' OR name LIKE 'sqlite%' OR name LIKE '${CHANGES_TRIGGER}%'
  OR name IN ('${CHANGES_TABLE}', '${RESTORING_TABLE}'))`;

export const partsOf = (sql: Sql): ArchivedPart[] =>
  sql
    .exec<{ type: ArchivedPart["type"]; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_master
       WHERE type IN ('table', 'index', 'trigger') AND sql IS NOT NULL AND NOT ${NOT_ARCHIVED}
       ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, name`,
    )
    .toArray();

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const listed = (names: readonly string[]): string => names.map(quote).join();
const marks = (names: readonly unknown[]): string => names.map(() => "?").join();

export function shapeOf(sql: Sql, name: string): TableShape | null {
  const query = "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid";
  const columns = sql.exec<{ name: string; pk: number }>(query, name).toArray();
  if (columns.length === 0) return null;
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
  return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
}

const archived = (value: SqlStorageValue): ArchiveValue =>
  value instanceof ArrayBuffer ? { base64: bytesToBase64(new Uint8Array(value)) } : value;

const stored = (value: ArchiveValue): SqlStorageValue =>
  typeof value === "object" && value !== null ? base64ToBytes(value.base64).buffer : value;

const bytesOf = (value: ArchiveValue): number => {
  if (typeof value === "string") return value.length;
  return typeof value === "object" && value !== null ? value.base64.length : 10;
};

function keyedRow({ name, columns, key }: TableShape, row: Record<string, SqlStorageValue>): KeyedRow {
  const values = columns.map((column) => archived(row[column] ?? null));
  return {
    row: { table: name, values },
    key: key.map((column) => archived(row[column] ?? null)),
    bytes: values.reduce<number>((sum, value) => sum + bytesOf(value), ROW_BYTES),
  };
}

/** The rows after a key in the order of the primary key, read as far as the caller iterates. No cursor stays open. */
export function* rowsAfter(
  sql: Sql,
  shape: TableShape,
  after: readonly ArchiveValue[] | null,
): Generator<KeyedRow> {
  const key = listed(shape.key);
  const from = `SELECT ${listed(shape.columns)} FROM ${quote(shape.name)}`;
  for (let last = after; ; ) {
    const where = last === null ? "" : `WHERE (${key}) > (${marks(shape.key)})`;
    const rows = sql
      .exec(`${from} ${where} ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`, ...(last ?? []).map(stored))
      .toArray()
      .map((row) => keyedRow(shape, row));
    yield* rows;
    last = rows.at(-1)?.key ?? null;
    if (rows.length < ROWS_AT_ONCE || last === null) return;
  }
}

const isKey = ({ key }: TableShape): string => key.map((column) => `${quote(column)} = ?`).join(" AND ");

export function rowOf(sql: Sql, shape: TableShape, key: readonly ArchiveValue[]): KeyedRow | null {
  const query = `SELECT ${listed(shape.columns)} FROM ${quote(shape.name)} WHERE ${isKey(shape)}`;
  const [row] = sql.exec(query, ...key.map(stored)).toArray();
  return row === undefined ? null : keyedRow(shape, row);
}

export function writeRow(sql: Sql, shape: TableShape, values: readonly ArchiveValue[]): void {
  const query = `INSERT OR REPLACE INTO ${quote(shape.name)} (${listed(shape.columns)}) VALUES (${marks(values)})`;
  sql.exec(query, ...values.map(stored));
}

export function deleteRow(sql: Sql, shape: TableShape, key: readonly ArchiveValue[]): void {
  sql.exec(`DELETE FROM ${quote(shape.name)} WHERE ${isKey(shape)}`, ...key.map(stored));
}

/** The table of the counters of AUTOINCREMENT, whose changes no trigger notes. */
const SEQUENCES = "sqlite_sequence";

export function readSequences(sql: Sql): ArchivedRow[] {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", SEQUENCES).toArray().length === 0) return [];
  const query = `SELECT name, seq FROM ${SEQUENCES} WHERE name <> ? ORDER BY name`;
  const rows = sql.exec<{ name: string; seq: number }>(query, CHANGES_TABLE).toArray();
  return rows.map(({ name, seq }) => ({ table: SEQUENCES, values: [name, seq] }));
}

export const isSequence = ({ table }: ArchivedRow): boolean => table === SEQUENCES;

export function writeSequence(sql: Sql, { values: [name, seq] }: ArchivedRow): void {
  sql.exec(`DELETE FROM ${SEQUENCES} WHERE name = ?`, name);
  sql.exec(`INSERT INTO ${SEQUENCES} (name, seq) VALUES (?, ?)`, name, seq);
}

/** A row that was changed or deleted; the number grows with each change. */
interface NotedChange {
  readonly number: number;
  readonly table: string;
  readonly key: readonly ArchiveValue[];
}

const CHANGES_AT_ONCE = 256;

const keyAs = (columns: readonly string[], prefix = ""): string =>
  `json_array(${columns.map((column) => `${prefix}${quote(column)}`).join()})`;

/** Deletes first: the statement that fires a trigger decides about conflicts. */
const noted = (table: string, key: string, from = ""): string => `
  DELETE FROM ${CHANGES_TABLE} WHERE "table" = '${table}' AND key IN (SELECT ${key} ${from});
  INSERT INTO ${CHANGES_TABLE} ("table", key) SELECT '${table}', ${key} ${from};`;

function uniqueOf(sql: Sql, table: string): string[][] {
  const indexes = `SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND origin <> 'pk'`;
  const columns = "SELECT name FROM pragma_index_info(?) ORDER BY seqno";
  return sql
    .exec<{ name: string }>(indexes, table)
    .toArray()
    .map((index) =>
      sql
        .exec<{ name: string }>(columns, index.name)
        .toArray()
        .map(({ name }) => name),
    );
}

/** The rows that a new or changed one may replace, for which no trigger fires. */
const conflicts = (sql: Sql, { name, key }: TableShape): string =>
  uniqueOf(sql, name)
    .map((columns) => {
      const isEqual = columns.map((column) => `${quote(column)} = NEW.${quote(column)}`).join(" AND ");
      return noted(name, keyAs(key), `FROM ${quote(name)} WHERE ${isEqual}`);
    })
    .join("");

function triggersOf(sql: Sql, shape: TableShape): string[] {
  const { name, key } = shape;
  const [older, newer] = ["OLD.", "NEW."].map((prefix) => noted(name, keyAs(key, prefix)));
  const before = conflicts(sql, shape);
  const bodies: Readonly<Record<string, string>> = {
    "AFTER INSERT": newer ?? "",
    "AFTER UPDATE": `${older}${newer}`,
    "AFTER DELETE": older ?? "",
    "BEFORE INSERT": before,
    "BEFORE UPDATE": before,
  };
  return Object.entries(bodies)
    .filter(([, body]) => body !== "")
    .map(([when, body]) => {
      const trigger = `${CHANGES_TRIGGER}_${when.replace(" ", "_").toLowerCase()}_${name}`;
      return `CREATE TRIGGER ${quote(trigger)} ${when} ON ${quote(name)} BEGIN ${body} END`;
    });
}

/** Notes the changes of these tables from now on, of which none has a BLOB in its primary key. */
export function noteChanges(sql: Sql, shapes: readonly TableShape[]): void {
  sql.exec(`CREATE TABLE ${CHANGES_TABLE} (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    "table" TEXT NOT NULL,
    key TEXT NOT NULL,
    UNIQUE ("table", key)
  )`);
  for (const shape of shapes) for (const trigger of triggersOf(sql, shape)) sql.exec(trigger);
}

/** The number of triggers that note changes: less than before, when tables were dropped. */
export function countTriggers(sql: Sql): number {
  const query = `SELECT count(*) AS count FROM sqlite_master
    WHERE type = 'trigger' AND name LIKE '${CHANGES_TRIGGER}%'`;
  return sql.exec<{ count: number }>(query).one().count;
}

/** The changes after a number in their order, read as far as the caller iterates. */
export function* changesAfter(sql: Sql, number: number): Generator<NotedChange> {
  const query = `SELECT number, "table", key FROM ${CHANGES_TABLE} WHERE number > ? ORDER BY number
    LIMIT ${CHANGES_AT_ONCE}`;
  for (let last = number; ; ) {
    const changes = sql.exec<{ number: number; table: string; key: string }>(query, last).toArray();
    for (const { key, ...change } of changes) yield { ...change, key: parseKey(key) };
    last = changes.at(-1)?.number ?? last;
    if (changes.length < CHANGES_AT_ONCE) return;
  }
}

export const forgetChanges = (sql: Sql, number: number): void => {
  sql.exec(`DELETE FROM ${CHANGES_TABLE} WHERE number <= ?`, number);
};

const parseKey = (json: string): ArchiveValue[] => JSON.parse(json) as ArchiveValue[];
