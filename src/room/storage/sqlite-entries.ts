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

/** A parameter may have 2 MB. */
const MAX_CHANGED_LENGTH = 512 * 1024;

/** A store, the key before the first entry, and the entries that are not in the table yet, as JSON. */
type EntryRange = readonly [store: string, after: string, ...changed: string[]];

const FOLDED = "SELECT key, value, version FROM entries WHERE store = ?1 AND key > ?2";
const MERGED = `WITH changed AS MATERIALIZED (
    SELECT value ->> 0 AS key, value ->> 1 AS value, value ->> 2 AS version FROM json_each(?3)
  ) ${FOLDED} AND key NOT IN (SELECT key FROM changed)
  UNION ALL SELECT key, value, version FROM changed WHERE key > ?2 AND version IS NOT NULL`;

/** Query for the entries of a range. */
const entriesWith = (changed: readonly string[]): string => (changed.length === 0 ? FOLDED : MERGED);

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

  /** The entries after a key, or all, in the order of code points, read as far as the caller iterates. */
  scan(store: string, after: string | null): Iterable<StoredEntry> {
    const changed = this.#changedOf(store);
    return this.tables.scan<StoredEntry>(
      `${entriesWith(changed)} ORDER BY key`,
      [store, after ?? "", ...changed],
      ({ key }) => [store, key, ...changed],
    );
  }

  /** The unfolded entries of a store as a parameter for {@link entriesWith}; none when all are in the table. */
  #changedOf(store: string): readonly string[] {
    const changed = this.#journal.unfolded.entries.get(store);
    if (changed === undefined) return [];
    const text = JSON.stringify(Array.from(changed, ([key, entry]) => [key, entry?.value, entry?.version]));
    if (text.length <= MAX_CHANGED_LENGTH) return [text];
    this.#journal.fold(); // a transaction that is not over may have written any number
    return [];
  }

  /** The same entries as JSON, at most some MiB at a time. */
  *scanText(store: string, after: string | null): Generator<EntryText> {
    const changed = this.#changedOf(store);
    const { entries, bytes } = this.size(store);
    const limit = Math.ceil((TEXT_BYTES * entries) / Math.max(1, bytes));
    const rows = Math.min(Math.max(limit, FEW_ROWS), MANY_ROWS);
    let text = this.#readText([store, after ?? "", ...changed], rows);
    while (text !== null) {
      yield text;
      text = this.#readText([store, text.lastKey, ...changed], rows);
    }
  }

  /** SQLite builds the text in half the time that its rows take to JavaScript. This order copies each value twice. */
  #readText(range: EntryRange, limit: number): EntryText | null {
    const [, , ...changed] = range;
    const query = `SELECT
         CAST(group_concat((',' || json_quote(key) || ',') || value || (',' || version), '') AS BLOB) AS items,
         max(key) AS lastKey
       FROM (${entriesWith(changed)} ORDER BY key ${LIMIT})`;
    try {
      const row = this.tables.find<{ items: ArrayBuffer; lastKey: string | null }>(query, ...range, limit);
      if (row === null || row.lastKey === null) return null;
      return { items: new Uint8Array(row.items), lastKey: row.lastKey };
    } catch (error) {
      // The text exceeds SQLite's limit: these entries are much larger than the ones before.
      if (limit <= FEW_ROWS || !String(error).includes("SQLITE_TOOBIG")) throw error;
      return this.#readText(range, FEW_ROWS);
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
