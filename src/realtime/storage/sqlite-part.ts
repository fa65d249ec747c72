/** A part of the storage in SQLite. */
import type { SqliteTables } from "./sqlite-tables.ts";

export abstract class SqlitePart {
  protected readonly tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.tables = tables;
  }
}
