/** The sizes of the stores that one request changes: read once, checked at each write, and written once. */
import { AppError } from "../../platform/errors.ts";
import { byteLength } from "../../platform/text.ts";
import { MAX_STORE_BYTES, MAX_STORE_ENTRIES, MAX_STORES } from "../protocol/limits.ts";
import type { EntryTable, StoredEntry, StoreSize } from "../storage/storage-content.ts";

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

/** What an entry counts in its store. */
const sizeOf = (entry: Pick<StoredEntry, "key" | "value"> | null): StoreSize =>
  entry === null
    ? { entries: 0, bytes: 0 }
    : { entries: 1, bytes: byteLength(entry.key) + byteLength(entry.value) };

export class StoreSizes {
  readonly #table: EntryTable;
  readonly #sizes = new Map<string, StoreSize>();
  #stores: number | null = null;

  constructor(table: EntryTable) {
    this.#table = table;
  }

  /** Counts an entry in place of another one. CONFLICT, with nothing counted, when a limit would be exceeded. */
  replace(store: string, before: StoredEntry | null, after: Pick<StoredEntry, "key" | "value"> | null): void {
    const size = this.#sizes.get(store) ?? this.#table.size(store);
    const [removed, added] = [sizeOf(before), sizeOf(after)];
    const entries = size.entries - removed.entries + added.entries;
    const bytes = size.bytes - removed.bytes + added.bytes;
    if (entries > MAX_STORE_ENTRIES && added.entries > removed.entries)
      throw conflict(`store: is full; a store can have at most ${MAX_STORE_ENTRIES} entries`);
    if (bytes > MAX_STORE_BYTES && bytes > size.bytes)
      throw conflict(`store: is full; a store can have at most ${MAX_STORE_BYTES} bytes`);
    this.#countStores(size, entries);
    this.#sizes.set(store, { entries, bytes });
  }

  #countStores(before: StoreSize, entries: number): void {
    const difference = Math.sign(entries) - Math.sign(before.entries);
    if (difference === 0) return;
    const stores = (this.#stores ?? this.#table.listStores().length) + difference;
    if (difference > 0 && stores > MAX_STORES)
      throw conflict(`store: is one too many; a room can have at most ${MAX_STORES} stores`);
    this.#stores = stores;
  }

  /** Writes what was counted. */
  save(): void {
    for (const [store, size] of this.#sizes) this.#table.writeSize(store, size);
  }
}
