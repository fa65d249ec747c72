/** Reads the entries of stores as text, to be sent as it is; what does not change is read once. */
import { KeptTexts, TextMemory } from "./kept-texts.ts";
import { SqlitePart } from "./sqlite-part.ts";
import { LIMIT, type SqliteTables } from "./sqlite-tables.ts";
import type { EntryText, StoreSize } from "./storage-content.ts";

/** What all rooms of an isolate keep together, also those that sleep, until others need the memory. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** How much text of entries is built at once; if their sizes differ, it is more. One write lets so much be built anew. */
const TEXT_BYTES = 128 * 1024;
const MANY_ROWS = 4_096;
/** So many of the largest entries fit into the 2 MB that SQLite allows. */
const FEW_ROWS = 8;
/** SQLite orders it behind every text. */
const BEHIND_ALL = new ArrayBuffer(0);

const MEMORY = new TextMemory(KEPT_BYTES);

export class SqliteEntryTexts extends SqlitePart {
  readonly #memory: TextMemory;
  readonly #byStore = new Map<string, KeptTexts>();

  constructor(tables: SqliteTables, memory = MEMORY) {
    super(tables);
    this.#memory = memory;
  }

  /** The entries of a store of this size after a key. */
  *scan(store: string, after: string, { entries, bytes }: StoreSize): Generator<EntryText> {
    const limit = Math.ceil((TEXT_BYTES * entries) / Math.max(1, bytes));
    const rows = Math.min(Math.max(limit, FEW_ROWS), MANY_ROWS);
    const kept = this.#byStore.get(store) ?? new KeptTexts(this.#memory);
    this.#byStore.set(store, kept);
    for (let last: string | null = after; last !== null; ) {
      const found = kept.find(last);
      if ("until" in found) {
        const text = this.#read(store, last, found.until, rows);
        if (text !== null) {
          kept.keep(last, text);
          yield text;
        }
        last = text?.lastKey ?? found.until;
      } else {
        yield found;
        last = found.lastKey;
      }
    }
  }

  /** An entry is written or deleted. */
  forget(store: string, key: string): void {
    this.#byStore.get(store)?.forget(key);
  }

  /** All stores are gone. */
  forgetAll(): void {
    for (const kept of this.#byStore.values()) kept.forgetAll();
    this.#byStore.clear();
  }

  /**
   * SQLite builds the text in half the time that bringing its rows to JavaScript takes; a BLOB is sent as it is. In
   * this order of joining, each value is copied twice.
   */
  #read(store: string, after: string, until: string | null, limit: number): EntryText | null {
    const query = `SELECT
         CAST(group_concat((',' || json_quote(key) || ',') || value || (',' || version), '') AS BLOB) AS items,
         max(key) AS lastKey, count(*) AS rows
       FROM (SELECT key, value, version FROM entries WHERE store = ? AND key > ? AND key <= ? ORDER BY key ${LIMIT})`;
    const params = [store, after, until ?? BEHIND_ALL, limit];
    try {
      const [row] = this.tables.read<{ items: ArrayBuffer; lastKey: string | null; rows: number }>(
        query,
        ...params,
      );
      if (row === undefined || row.lastKey === null) return null;
      const isWhole = row.rows < limit && until !== null;
      return { items: new Uint8Array(row.items), lastKey: isWhole ? until : row.lastKey };
    } catch (error) {
      // These are much larger than the others: together they exceed what SQLite allows.
      if (limit <= FEW_ROWS || !String(error).includes("SQLITE_TOOBIG")) throw error;
      return this.#read(store, after, until, FEW_ROWS);
    }
  }
}
