/** Copies an object's storage in SQLite, like a backup, and puts it back. */

interface Part {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Copies everything; the returned function replaces the storage of that time by the copy. */
export function copyStored({ sql }: DurableObjectStorage): () => void {
  const parts = partsOf(sql);
  const tables = parts.filter(({ type }) => type === "table");
  const rows = new Map(tables.map(({ name }) => [name, sql.exec(`SELECT * FROM ${name}`).toArray()]));
  return () => replace(sql, parts, rows);
}

/** Tables come first. */
const partsOf = (sql: SqlStorage): Part[] =>
  sql
    .exec<{ type: string; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '\\_cf%' ESCAPE '\\'
        AND name NOT LIKE 'sqlite%' ORDER BY type <> 'table'`,
    )
    .toArray();

/** Triggers are created last: they would count the rows once more. */
function replace(
  sql: SqlStorage,
  parts: readonly Part[],
  rows: ReadonlyMap<string, readonly Record<string, SqlStorageValue>[]>,
): void {
  for (const { type, name } of partsOf(sql)) if (type === "table") sql.exec(`DROP TABLE ${name}`);
  for (const part of parts) {
    sql.exec(part.sql);
    for (const row of part.type === "table" ? (rows.get(part.name) ?? []) : []) {
      const values = Object.values(row);
      sql.exec(`INSERT INTO ${part.name} VALUES (${values.map(() => "?").join()})`, ...values);
    }
  }
}
