/** The entries of a room's stores in SQLite, and their sizes. */

import { LIMIT, SqlitePart, type SqliteTables } from "./sqlite-tables.ts";
import { type EntryText, TextCache, TextCacheMemory } from "./text-cache.ts";

export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
}

interface StoreTotals {
  readonly stores: number;
  readonly bytes: number;
}

interface NamedSize extends StoreSize {
  readonly name: string;
}

const NO_SIZE: StoreSize = { entries: 0, bytes: 0 };

export class SqliteEntries extends SqlitePart {
  /** Kept because every write needs the size of its store, and the totals. */
  #sizes: Map<string, StoreSize> | null = null;
  #totals: StoreTotals | null = null;
  #sizedAt = 0;
  readonly #texts: SqliteEntryTexts;

  /** Texts are kept in `memory`: that of the isolate. */
  constructor(tables: SqliteTables, memory?: TextCacheMemory) {
    super(tables);
    this.#texts = new SqliteEntryTexts(tables, memory);
    tables.onUndone((writes) => {
      if (writes === 0) this.#texts.forgetAll();
      if (this.#sizedAt > writes) this.#forgetSizes();
    });
  }

  #forgetSizes(): void {
    this.#sizes = null;
    this.#totals = null;
  }

  find(store: string, key: string): StoredEntry | null {
    const query = "SELECT key, value, version FROM entries WHERE store = ? AND key = ?";
    return this.tables.find<StoredEntry>(query, store, key);
  }

  /** The entries after a key, or all, in the order of code points, read as far as the caller iterates. */
  scan(store: string, after: string | null): Iterable<StoredEntry> {
    return this.tables.scan<StoredEntry>(
      "SELECT key, value, version FROM entries WHERE store = ? AND key > ? ORDER BY key",
      [store, after ?? ""],
      ({ key }) => [store, key],
    );
  }

  /** The same entries as JSON, at most some MiB at a time. It may be empty at the end. */
  scanText(store: string, after: string | null): Iterable<EntryText> {
    return this.#texts.scan(store, after ?? "", this.size(store));
  }

  write(store: string, { key, value, version }: StoredEntry): void {
    this.#texts.forget(store, key);
    this.tables.write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", store, key, value, version);
  }

  delete(store: string, key: string): void {
    this.#texts.forget(store, key);
    this.tables.write("DELETE FROM entries WHERE store = ? AND key = ?", store, key);
  }

  /** Zero for a store that does not exist. */
  size(store: string): StoreSize {
    return this.#known().get(store) ?? NO_SIZE;
  }

  /** A size without entries deletes the store. */
  writeSize(store: string, size: StoreSize): void {
    const sizes = this.#known();
    if (size.entries === 0) {
      this.tables.write("DELETE FROM stores WHERE name = ?", store);
      sizes.delete(store);
    } else {
      this.tables.write("INSERT OR REPLACE INTO stores VALUES (?, ?, ?)", store, size.entries, size.bytes);
      sizes.set(store, size);
    }
    this.#totals = null;
    this.#sizedAt = this.tables.writes;
  }

  totals(): StoreTotals {
    if (this.#totals !== null) return this.#totals;
    let bytes = 0;
    for (const size of this.#known().values()) bytes += size.bytes;
    this.#totals = { stores: this.#known().size, bytes };
    return this.#totals;
  }

  #known(): Map<string, StoreSize> {
    this.#sizes ??= new Map(
      this.tables
        .read<NamedSize>("SELECT name, entries, bytes FROM stores")
        .map(({ name, entries, bytes }) => [name, { entries, bytes }]),
    );
    return this.#sizes;
  }

  listStores(): NamedSize[] {
    return this.tables.read<NamedSize>("SELECT name, entries, bytes FROM stores ORDER BY name");
  }
}

/** Kept by all rooms of an isolate, also hibernating ones, until others need the memory. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** Text that is built at once; more if the sizes of entries differ. A write discards this much. */
const TEXT_BYTES = 128 * 1024;
const MANY_ROWS = 4_096;
/** This many of the largest entries fit into the 2 MB that SQLite allows. */
const FEW_ROWS = 8;
/** SQLite orders it behind every text. */
const BEHIND_ALL = new ArrayBuffer(0);

const MEMORY = new TextCacheMemory(KEPT_BYTES);

/** Reads entries as text, which is sent as it is. Unchanged text is read once. */
class SqliteEntryTexts extends SqlitePart {
  readonly #memory: TextCacheMemory;
  readonly #byStore = new Map<string, TextCache>();

  constructor(tables: SqliteTables, memory = MEMORY) {
    super(tables);
    this.#memory = memory;
  }

  *scan(store: string, after: string, { entries, bytes }: StoreSize): Generator<EntryText> {
    const limit = Math.ceil((TEXT_BYTES * entries) / Math.max(1, bytes));
    const rows = Math.min(Math.max(limit, FEW_ROWS), MANY_ROWS);
    const kept = this.#byStore.get(store) ?? new TextCache(this.#memory);
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

  forget(store: string, key: string): void {
    this.#byStore.get(store)?.forget(key);
  }

  forgetAll(): void {
    for (const kept of this.#byStore.values()) kept.forgetAll();
    this.#byStore.clear();
  }

  /** SQLite builds the text in half the time that its rows take to JavaScript. This order copies each value twice. */
  #read(store: string, after: string, until: string | null, limit: number): EntryText | null {
    const query = `SELECT
         CAST(group_concat((',' || json_quote(key) || ',') || value || (',' || version), '') AS BLOB) AS items,
         max(key) AS lastKey, count(*) AS rows
       FROM (SELECT key, value, version FROM entries WHERE store = ? AND key > ? AND key <= ? ORDER BY key ${LIMIT})`;
    const params = [store, after, until ?? BEHIND_ALL, limit];
    try {
      const row = this.tables.find<{ items: ArrayBuffer; lastKey: string | null; rows: number }>(
        query,
        ...params,
      );
      if (row === null || row.lastKey === null) return null;
      const isWhole = row.rows < limit && until !== null;
      return { items: new Uint8Array(row.items), lastKey: isWhole ? until : row.lastKey };
    } catch (error) {
      // These entries are much larger than the others, and exceed what SQLite allows.
      if (limit <= FEW_ROWS || !String(error).includes("SQLITE_TOOBIG")) throw error;
      return this.#read(store, after, until, FEW_ROWS);
    }
  }
}
