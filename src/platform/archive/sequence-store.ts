/** The counters that SQLite keeps of tables with AUTOINCREMENT: no trigger notes their changes. */
import { CHANGES_TABLE } from "../objects/archive-tables.ts";
import type { ArchivedRow } from "./object-archive.ts";
import type { Sql } from "./row-store.ts";

const TABLE = "sqlite_sequence";

/** The counters as rows of an archive. */
export function readSequences(sql: Sql): ArchivedRow[] {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", TABLE).toArray().length === 0) return [];
  const query = `SELECT name, seq FROM ${TABLE} WHERE name <> ? ORDER BY name`;
  const rows = sql.exec<{ name: string; seq: number }>(query, CHANGES_TABLE).toArray();
  return rows.map(({ name, seq }) => ({ table: TABLE, values: [name, seq] }));
}

export const isSequence = ({ table }: ArchivedRow): boolean => table === TABLE;

export function writeSequence(sql: Sql, { values: [name, seq] }: ArchivedRow): void {
  sql.exec(`DELETE FROM ${TABLE} WHERE name = ?`, name);
  sql.exec(`INSERT INTO ${TABLE} (name, seq) VALUES (?, ?)`, name, seq);
}
