/** The entries of a room's stores in SQLite, and their sizes. */

import type { SqliteJournal, StoredEntry, StoreSize } from "./sqlite-journal.ts";
import { LIMIT, SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

interface StoreTotals {
  readonly stores: number;
  readonly bytes: number;
}

interface NamedSize extends StoreSize {
  readonly name: string;
}

/** Entries that follow each other in the order of keys. */
interface EntryText {
  /** Keys, values and versions in turn, each after a comma, as JSON has them in an array, in UTF-8. */
  readonly items: Uint8Array;
  readonly lastKey: string;
}

/** Text that is read at once; more if the sizes of entries differ. */
const TEXT_BYTES = 128 * 1024;
const MANY_ROWS = 4_096;
/** Number of entries of maximum size that fit into the 2 MB that SQLite allows. */
const FEW_ROWS = 8;

const NO_SIZE: StoreSize = { entries: 0, bytes: 0 };

/** Changes write entries: the table has their state as of the last fold of the journal. */
export class SqliteEntries extends SqlitePart {
  readonly #journal: SqliteJournal;
  /** Kept because every write needs the size of its store, and the totals. */
  #sizes: Map<string, StoreSize> | null = null;
  #totals: StoreTotals | null = null;
  #sizedAt = 0;

  constructor(tables: SqliteTables, journal: SqliteJournal) {
    super(tables);
    this.#journal = journal;
    journal.onFold(({ entries, sizes }) => {
      for (const [store, changed] of entries)
        for (const [key, entry] of changed) this.#write(store, key, entry);
      for (const [store, size] of sizes) this.#writeSize(store, size);
    });
    tables.onUndone((writes) => {
      if (this.#sizedAt > writes) this.#forgetSizes();
    });
  }

  #forgetSizes(): void {
    this.#sizes = null;
    this.#totals = null;
  }

  find(store: string, key: string): StoredEntry | null {
    const changed = this.#journal.unfolded.entries.get(store)?.get(key);
    if (changed !== undefined) return changed;
    const query = "SELECT key, value, version FROM entries WHERE store = ? AND key = ?";
    return this.tables.find<StoredEntry>(query, store, key);
  }

  #foldFor(store: string): void {
    if (this.#journal.unfolded.entries.has(store)) this.#journal.fold();
  }

  /** The entries after a key, or all, in the order of code points, read as far as the caller iterates. */
  scan(store: string, after: string | null): Iterable<StoredEntry> {
    this.#foldFor(store);
    return this.tables.scan<StoredEntry>(
      "SELECT key, value, version FROM entries WHERE store = ? AND key > ? ORDER BY key",
      [store, after ?? ""],
      ({ key }) => [store, key],
    );
  }

  /** The same entries as JSON, at most some MiB at a time. */
  *scanText(store: string, after: string | null): Generator<EntryText> {
    this.#foldFor(store);
    const { entries, bytes } = this.size(store);
    const limit = Math.ceil((TEXT_BYTES * entries) / Math.max(1, bytes));
    const rows = Math.min(Math.max(limit, FEW_ROWS), MANY_ROWS);
    let text = this.#readText(store, after ?? "", rows);
    while (text !== null) {
      yield text;
      text = this.#readText(store, text.lastKey, rows);
    }
  }

  /** SQLite builds the text in half the time that its rows take to JavaScript. This order copies each value twice. */
  #readText(store: string, after: string, limit: number): EntryText | null {
    const query = `SELECT
         CAST(group_concat((',' || json_quote(key) || ',') || value || (',' || version), '') AS BLOB) AS items,
         max(key) AS lastKey
       FROM (SELECT key, value, version FROM entries WHERE store = ? AND key > ? ORDER BY key ${LIMIT})`;
    try {
      const row = this.tables.find<{ items: ArrayBuffer; lastKey: string | null }>(
        query,
        store,
        after,
        limit,
      );
      if (row === null || row.lastKey === null) return null;
      return { items: new Uint8Array(row.items), lastKey: row.lastKey };
    } catch (error) {
      // The text exceeds SQLite's limit: these entries are much larger than the ones before.
      if (limit <= FEW_ROWS || !String(error).includes("SQLITE_TOOBIG")) throw error;
      return this.#readText(store, after, FEW_ROWS);
    }
  }

  #write(store: string, key: string, entry: StoredEntry | null): void {
    if (entry === null) this.tables.write("DELETE FROM entries WHERE store = ? AND key = ?", store, key);
    else
      this.tables.write(
        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
        store,
        key,
        entry.value,
        entry.version,
      );
  }

  #writeSize(store: string, { entries, bytes }: StoreSize): void {
    if (entries === 0) this.tables.write("DELETE FROM stores WHERE name = ?", store);
    else this.tables.write("INSERT OR REPLACE INTO stores VALUES (?, ?, ?)", store, entries, bytes);
  }

  /** Zero for a store that does not exist. */
  size(store: string): StoreSize {
    return this.#known().get(store) ?? NO_SIZE;
  }

  /** A size without entries deletes the store. */
  writeSize(store: string, size: StoreSize): void {
    const sizes = this.#known();
    this.#journal.writeSize(store, size);
    if (size.entries === 0) sizes.delete(store);
    else sizes.set(store, size);
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
    this.#sizes ??= this.#readSizes();
    return this.#sizes;
  }

  #readSizes(): Map<string, StoreSize> {
    const stored = this.tables.read<NamedSize>("SELECT name, entries, bytes FROM stores");
    const sizes = new Map(stored.map(({ name, entries, bytes }) => [name, { entries, bytes }]));
    for (const [store, size] of this.#journal.unfolded.sizes)
      if (size.entries === 0) sizes.delete(store);
      else sizes.set(store, size);
    return sizes;
  }

  listStores(): NamedSize[] {
    if (this.#journal.unfolded.sizes.size > 0) this.#journal.fold();
    return this.tables.read<NamedSize>("SELECT name, entries, bytes FROM stores ORDER BY name");
  }
}
