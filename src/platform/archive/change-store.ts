/** Notes, by triggers, which rows of an object's database change while it is archived: so no write can be forgotten. */
import { CHANGES_TABLE, CHANGES_TRIGGER } from "../objects/archive-tables.ts";
import type { ArchiveValue } from "./object-archive.ts";
import type { Sql, TableShape } from "./row-store.ts";

/** A row that was changed or deleted; the number grows with each change. */
export interface NotedChange {
  readonly number: number;
  readonly table: string;
  readonly key: readonly ArchiveValue[];
}

/** Changes that are read at a time. */
const CHANGES_AT_ONCE = 256;

const quote = (name: string): string => `"${name}"`;
const keyAs = (columns: readonly string[], prefix = ""): string =>
  `json_array(${columns.map((column) => `${prefix}${quote(column)}`).join()})`;

/** Notes a row anew. It relies on no conflict, as the statement that fires a trigger decides what becomes of those. */
const noted = (table: string, key: string, from = ""): string => `
  DELETE FROM ${CHANGES_TABLE} WHERE "table" = '${table}' AND key IN (SELECT ${key} ${from});
  INSERT INTO ${CHANGES_TABLE} ("table", key) SELECT '${table}', ${key} ${from};`;

/** The columns of each unique index beside the primary key. */
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

/** How many triggers note changes: less than before, when tables were dropped. */
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

/** Forgets the changes up to a number. */
export const forgetChanges = (sql: Sql, number: number): void => {
  sql.exec(`DELETE FROM ${CHANGES_TABLE} WHERE number <= ?`, number);
};

/** As a trigger wrote it. */
const parseKey = (json: string): ArchiveValue[] => JSON.parse(json) as ArchiveValue[];
