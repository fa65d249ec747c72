/** A part of the storage in SQLite. */
import type { SqliteTables } from "./sqlite-tables.ts";

export abstract class SqlitePart {
  protected readonly tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.tables = tables;
  }

  /** Remembers the highest number that was ever deleted from a table: it is not given again, since readers may know it. */
  protected retire(table: string, number: number): void {
    this.tables.write(
      `INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE
       SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))`,
      `last of ${table}`,
      `${number}`,
    );
  }

  /** A number above all that a table has, and had. */
  protected nextNumber(table: string, column: string): number {
    const query = `SELECT 1 + max(
      ifnull((SELECT max(${column}) FROM ${table}), 0),
      ifnull((SELECT CAST(value AS INTEGER) FROM facts WHERE name = ?), 0)) AS number`;
    return this.tables.read<{ number: number }>(query, `last of ${table}`)[0]?.number ?? 1;
  }
}
