/** The SQLite database of an object that counts guesses. Empty until the first one. */
import { createTables, FACTS, openTables, type Schema } from "../../platform/objects/object-tables.ts";

/** More keys than these let the ones that are forgotten first go, or a botnet could fill the storage. */
const MAX_KEYS = 10_000;

const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    guesses: `CREATE TABLE IF NOT EXISTS guesses (
      key TEXT PRIMARY KEY,
      count REAL NOT NULL,
      at INTEGER NOT NULL,
      forgotten_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS guesses_forgotten ON guesses (forgotten_at);`,
  },
  migrations: [],
};

export interface Guesses {
  /** The number at the latest guess; since then it decays continuously. */
  readonly count: number;
  /** The latest, epoch milliseconds. */
  readonly at: number;
}

export class GuessStore {
  readonly #sql: SqlStorage;
  #keys: number;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    if (!openTables(storage, SCHEMA)) createTables(storage, SCHEMA);
    this.#keys = this.#sql.exec<{ total: number }>("SELECT count(*) AS total FROM guesses").one().total;
  }

  find(key: string): Guesses | undefined {
    const query = "SELECT count, at FROM guesses WHERE key = ?";
    return this.#sql.exec<{ count: number; at: number }>(query, key).toArray()[0];
  }

  set(key: string, { count, at }: Guesses, forgottenAt: number): void {
    if (this.find(key) === undefined) this.#keys += 1;
    this.#sql.exec(
      `INSERT INTO guesses (key, count, at, forgotten_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET count = excluded.count, at = excluded.at, forgotten_at = excluded.forgotten_at`,
      ...[key, count, at, forgottenAt],
    );
    if (this.#keys > MAX_KEYS) this.#removeFirst();
  }

  takeOne(key: string): void {
    this.#sql.exec("UPDATE guesses SET count = max(0, count - 1) WHERE key = ?", key);
  }

  remove(key: string): void {
    this.#keys -= this.#sql.exec("DELETE FROM guesses WHERE key = ?", key).rowsWritten > 0 ? 1 : 0;
  }

  /** Removes the keys forgotten at `now` (epoch ms). Returns when the next one is; null without one. */
  prune(now: number): number | null {
    this.#sql.exec("DELETE FROM guesses WHERE forgotten_at <= ?", now);
    const query = "SELECT count(*) AS total, min(forgotten_at) AS next FROM guesses";
    const { total, next } = this.#sql.exec<{ total: number; next: number | null }>(query).one();
    this.#keys = total;
    return next;
  }

  #removeFirst(): void {
    const query = "SELECT key FROM guesses ORDER BY forgotten_at LIMIT 1";
    for (const { key } of this.#sql.exec<{ key: string }>(query).toArray()) this.remove(key);
  }
}
