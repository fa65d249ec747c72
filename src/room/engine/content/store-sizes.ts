/** The sizes of the stores that one request changes: read once, checked at each write, and written once. */
import { AppError } from "../../../platform/errors.ts";
import { byteLength } from "../../../platform/text.ts";
import { MAX_STORE_BYTES, MAX_STORE_ENTRIES, MAX_STORES, MAX_WRITTEN_BYTES } from "../../protocol/limits.ts";
import type { EntryTable, StoredEntry, StoreSize, StoreTotals } from "../../storage/storage-content.ts";
import type { StoreQuota } from "./store-quota.ts";

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

type Content = Pick<StoredEntry, "key" | "value">;

/** What an entry counts in its store. */
const sizeOf = (entry: Content | null): StoreSize =>
  entry === null
    ? { entries: 0, bytes: 0 }
    : { entries: 1, bytes: byteLength(entry.key) + byteLength(entry.value) };

export class StoreSizes {
  readonly #table: EntryTable;
  readonly #quotaBytes: number;
  readonly #organization: StoreQuota;
  readonly #sizes = new Map<string, StoreSize>();
  #totals: StoreTotals | null = null;
  /** What is stored: the sizes and totals as they were before the request. */
  readonly #sizesBefore = new Map<string, StoreSize>();
  #totalsBefore: StoreTotals = { stores: 0, bytes: 0 };
  #writtenBytes = 0;

  /** `quotaBytes` is what all stores of the room may have together, `organization` what those of all rooms may. */
  constructor(table: EntryTable, quotaBytes: number, organization: StoreQuota) {
    this.#table = table;
    this.#quotaBytes = quotaBytes;
    this.#organization = organization;
  }

  /** Keys and values that the request has written. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** VALIDATION_ERROR once the request has written enough: what follows is not even read. */
  requireWritable(): void {
    if (this.#writtenBytes < MAX_WRITTEN_BYTES) return;
    const why = `operations: a batch writes at most ${MAX_WRITTEN_BYTES} bytes; send the others in another one`;
    throw new AppError("Rooms", "VALIDATION_ERROR", why);
  }

  /**
   * Counts an entry in place of another one. CONFLICT when the store would be too large or the room have too many,
   * FORBIDDEN when a quota of the room or of the organization would be exceeded; then nothing is counted. What makes a store smaller is accepted.
   */
  replace(store: string, before: Content | null, after: Content | null): void {
    const size = this.#sizes.get(store) ?? this.#readSize(store);
    const totals = this.#totals ?? this.#read();
    const [removed, added] = [sizeOf(before), sizeOf(after)];
    const growth = added.bytes - removed.bytes;
    const entries = size.entries - removed.entries + added.entries;
    const bytes = size.bytes + growth;
    const stores = totals.stores + Math.sign(entries) - Math.sign(size.entries);
    if (entries > size.entries && entries > MAX_STORE_ENTRIES)
      throw conflict(`store: is full; a store can have at most ${MAX_STORE_ENTRIES} entries`);
    if (growth > 0 && bytes > MAX_STORE_BYTES)
      throw conflict(`store: is full; a store can have at most ${MAX_STORE_BYTES} bytes`);
    if (stores > totals.stores && stores > MAX_STORES)
      throw conflict(`store: is one too many; a room can have at most ${MAX_STORES} stores`);
    if (growth > 0 && totals.bytes + growth > this.#quotaBytes) throw this.#quotaExceeded(totals, growth);
    this.#organization.require("stores", totals.bytes, totals.bytes + growth);
    this.#sizes.set(store, { entries, bytes });
    this.#totals = { stores, bytes: totals.bytes + growth };
    this.#writtenBytes += added.bytes;
  }

  #readSize(store: string): StoreSize {
    const size = this.#table.size(store);
    this.#sizesBefore.set(store, size);
    return size;
  }

  #read(): StoreTotals {
    this.#totalsBefore = this.#table.totals();
    return this.#totalsBefore;
  }

  #quotaExceeded({ bytes }: StoreTotals, growth: number): AppError {
    return new AppError(
      "Rooms",
      "FORBIDDEN",
      `The quota store_bytes_per_room is exceeded: ${bytes} of ${this.#quotaBytes} bytes are in use, and this write needs ${growth} more; delete entries`,
    );
  }

  /** The stores in which something was counted. */
  get stores(): Iterable<string> {
    return this.#sizes.keys();
  }

  /** Writes what was counted, as far as it has changed: each row that is written costs money. */
  save(): void {
    for (const [store, size] of this.#sizes) {
      const before = this.#sizesBefore.get(store);
      if (size.entries !== before?.entries || size.bytes !== before.bytes) this.#table.writeSize(store, size);
    }
    if (this.#totals === null) return;
    this.#organization.changed(this.#totalsBefore.bytes, this.#totals.bytes);
  }
}
