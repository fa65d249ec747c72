/** The entries of a room's stores in SQLite, and how much they have. */

import type { TextMemory } from "./kept-texts.ts";
import { SqliteEntryTexts } from "./sqlite-entry-texts.ts";
import { SqlitePart } from "./sqlite-part.ts";
import type { SqliteTables } from "./sqlite-tables.ts";
import type { EntryTable, EntryText, StoredEntry, StoreSize, StoreTotals } from "./storage-content.ts";

type SizeRow = { name: string; entries: number; bytes: number };

const NO_SIZE: StoreSize = { entries: 0, bytes: 0 };

export class SqliteEntries extends SqlitePart implements EntryTable {
  /** As stored: every write needs the size of its store, and the totals. */
  #sizes: Map<string, StoreSize> | null = null;
  #totals: StoreTotals | null = null;
  #sizedAt = 0;
  readonly #texts: SqliteEntryTexts;

  /** `memory` is what the entries' text may be kept in: that of the isolate. */
  constructor(tables: SqliteTables, memory?: TextMemory) {
    super(tables);
    this.#texts = new SqliteEntryTexts(tables, memory);
    tables.onUndone((writes) => {
      if (this.#sizedAt > writes) this.#forgetSizes();
    });
  }

  #forgetSizes(): void {
    this.#sizes = null;
    this.#totals = null;
  }

  find(store: string, key: string): StoredEntry | null {
    const query = "SELECT key, value, version FROM entries WHERE store = ? AND key = ?";
    return this.tables.read<{ key: string; value: string; version: number }>(query, store, key)[0] ?? null;
  }

  scan(store: string, after: string | null): Iterable<StoredEntry> {
    return this.tables.scan<{ key: string; value: string; version: number }>(
      "SELECT key, value, version FROM entries WHERE store = ? AND key > ? ORDER BY key",
      [store, after ?? ""],
      ({ key }) => [store, key],
    );
  }

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

  /** The tables are gone. */
  forget(): void {
    this.#texts.forgetAll();
    this.#forgetSizes();
  }

  size(store: string): StoreSize {
    return this.#known().get(store) ?? NO_SIZE;
  }

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

  /** Of all stores, of which a room has few. */
  #known(): Map<string, StoreSize> {
    this.#sizes ??= new Map(
      this.tables
        .read<SizeRow>("SELECT name, entries, bytes FROM stores")
        .map(({ name, entries, bytes }) => [name, { entries, bytes }]),
    );
    return this.#sizes;
  }

  listStores(): (StoreSize & { readonly name: string })[] {
    return this.tables.read<SizeRow>("SELECT name, entries, bytes FROM stores ORDER BY name");
  }
}
