/** The room's key-value stores: versions, merges, limits, and a change for each write. */
import { AppError } from "../../../platform/errors.ts";
import { byteLength } from "../../../platform/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import {
  MAX_PAGE_BYTES,
  MAX_STORE_BYTES,
  MAX_STORE_ENTRIES,
  MAX_STORES,
  MAX_VALUE_BYTES,
  MAX_WRITTEN_BYTES,
} from "../../protocol/limits.ts";
import {
  type BatchOperation,
  isRecord,
  type StoreBatch,
  type StoreOperation,
  type StorePage,
} from "../../protocol/messages.ts";
import type { Fault } from "../../protocol/protocol.ts";
import type { EntryText } from "../../storage/kept-texts.ts";
import type { StoredEntry, StoreSize, StoreTotals } from "../../storage/sqlite-entries.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { StoreEvents } from "../outbox/delayed-events.ts";
import type { Changes } from "./changes.ts";
import type { StoreQuota } from "./stats-projection.ts";

export interface Written {
  /** Absent after a deletion. */
  readonly version?: number;
  readonly seq: number;
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

/** The result of an operation that was refused by itself. */
interface Refused {
  readonly error: Fault;
}

/** The entry that an operation is about, as found, and who makes it. */
interface WriteTarget {
  readonly store: string;
  readonly key: string;
  readonly found: StoredEntry | null;
  readonly by: string | null;
  readonly sizes: StoreSizes;
}

interface Write extends WriteTarget {
  readonly action: "set" | "update";
  readonly value: unknown;
}

export class Stores {
  readonly #storage: RoomStorage;
  readonly #changes: Changes;
  readonly #events: StoreEvents;
  /** What all stores of the room may have together. */
  readonly #quotaBytes: number;
  /** What the stores and documents of all of the organization's rooms may have together. */
  readonly quota: StoreQuota;
  /** Keys and values that were written since the room has started, also by requests that were undone. */
  writtenBytes = 0;

  constructor(
    storage: RoomStorage,
    changes: Changes,
    events: StoreEvents,
    quotas: { readonly roomBytes: number; readonly organization: StoreQuota },
  ) {
    this.#storage = storage;
    this.#changes = changes;
    this.#events = events;
    this.#quotaBytes = quotas.roomBytes;
    this.quota = quotas.organization;
  }

  /** What all stores have together, as the quotas count it. */
  get bytes(): number {
    return this.#storage.entries.totals().bytes;
  }

  list(): readonly (StoreSize & { readonly name: string })[] {
    return this.#storage.entries.listStores();
  }

  /**
   * A page of a store, as the JSON of `{ entries, seq, next? }` with the seq of the room's latest change: at least one
   * entry, and then as many as fit. `next` is the last key of a page that others follow. The values are JSON already:
   * parsing them only to serialize them again takes twice as long.
   */
  page({ store, after, limit }: StorePage): JsonText {
    let members = "";
    let count = 0;
    let last: string | undefined;
    let next: string | undefined;
    for (const { key, value, version } of this.#storage.entries.scan(store, after ?? null)) {
      const text = `${JSON.stringify(key)}:{"value":${value},"version":${version}}`;
      if (count === limit || (count > 0 && members.length + text.length > MAX_PAGE_BYTES)) {
        next = last;
        break;
      }
      members += count === 0 ? text : `,${text}`;
      count += 1;
      last = key;
    }
    return JsonText.of({ entries: new JsonText(`{${members}}`), seq: this.#changes.lastSeq, next });
  }

  /** How large a store is, in bytes of keys and of JSON. */
  bytesOf(store: string): number {
    return this.#storage.entries.size(store).bytes;
  }

  /** About so many bytes of the entries after a key, or of all. */
  readTexts(store: string, after: string | null, bytes: number): EntryTexts {
    return collectTexts(this.#storage.entries.scanText(store, after), bytes);
  }

  /** An entry as the JSON of `{ value, version }`: null and 0 when there is none. */
  get(store: string, key: string): JsonText {
    const { value, version } = this.#storage.entries.find(store, key) ?? { value: "null", version: 0 };
    return JsonText.of({ value: new JsonText(value), version });
  }

  /**
   * Applies the operations of a batch, all or none: the caller's transaction undoes those before a refused one. If it
   * is not `atomic`, each is applied or refused by itself.
   */
  applyAll({ operations, atomic }: StoreBatch, by: string | null) {
    const results = this.#write((sizes) =>
      operations.map((operation) =>
        atomic ? this.#apply(operation, by, sizes) : this.#attempt(operation, by, sizes),
      ),
    );
    return { results, seq: this.#changes.lastSeq };
  }

  /** Writes or deletes one entry. CONFLICT unless it has `ifVersion`, when that is given. */
  apply(operation: StoreOperation, by: string | null): Written {
    return this.#write((sizes) => this.#apply(operation, by, sizes));
  }

  /** Does what writes, then saves the sizes that it has counted, and notes which stores have changed. */
  #write<T>(work: (sizes: StoreSizes) => T): T {
    const sizes = new StoreSizes(this.#storage.entries, this.#quotaBytes, this.quota);
    const fromSeq = this.#changes.lastSeq + 1;
    try {
      const result = work(sizes);
      sizes.save();
      this.#events.note(sizes.stores, fromSeq);
      return result;
    } finally {
      this.writtenBytes += sizes.writtenBytes;
    }
  }

  /** Only refusals are results: what no one expected fails the whole request. */
  #attempt(operation: BatchOperation, by: string | null, sizes: StoreSizes): Written | Refused {
    try {
      return this.#apply(operation, by, sizes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, module, message } = error;
      return { error: { code, module, message } };
    }
  }

  /** Refuses an operation before it changes anything, so that those next to it can go on. */
  #apply(operation: BatchOperation, by: string | null, sizes: StoreSizes): Written {
    if (operation.type === "INVALID") throw new AppError("Rooms", "VALIDATION_ERROR", operation.message);
    sizes.requireWritable();
    const { store, key, ifVersion } = operation;
    const found = this.#storage.entries.find(store, key);
    if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0))
      throw conflict(`The entry has version ${found?.version ?? 0}`);
    const write = { store, key, found, by, sizes };
    switch (operation.type) {
      case "STORE_SET":
        return this.#put({ ...write, action: "set", value: operation.value });
      case "STORE_UPDATE":
        return this.#put({ ...write, action: "update", value: merge(found, operation.value) });
      case "STORE_DELETE":
        return found === null ? { seq: this.#changes.lastSeq } : this.#delete({ ...write, found });
    }
  }

  #put({ store, key, action, value, found, by, sizes }: Write): Written {
    const json = JSON.stringify(value);
    if (byteLength(json) > MAX_VALUE_BYTES)
      throw new AppError("Rooms", "VALIDATION_ERROR", `value: must have at most ${MAX_VALUE_BYTES} bytes`);
    sizes.replace(store, found, { key, value: json });
    const text = new JsonText(json);
    const { seq } = this.#changes.append(
      "storeChanged",
      (version) => JsonText.of({ store, key, action, value: text, version, by, seq: version }),
      { store, key, before: found?.version ?? 0, isDeleted: false },
    );
    this.#storage.entries.write(store, { key, value: json, version: seq });
    return { version: seq, seq };
  }

  #delete({ store, key, found, by, sizes }: WriteTarget & { readonly found: StoredEntry }): Written {
    sizes.replace(store, found, null);
    const { seq } = this.#changes.append(
      "storeChanged",
      (version) => ({ store, key, action: "delete", value: null, version, by, seq: version }),
      { store, key, before: found.version, isDeleted: true },
    );
    this.#storage.entries.delete(store, key);
    return { seq };
  }
}

/** A value that {@link Stores} wrote. */
const parse = (json: string): unknown => JSON.parse(json);

function merge(found: StoredEntry | null, fields: Record<string, unknown>): Record<string, unknown> {
  const current = found === null ? {} : parse(found.value);
  if (!isRecord(current)) throw conflict("The current value is not a JSON object");
  return { ...current, ...fields };
}

type Content = Pick<StoredEntry, "key" | "value">;

/** What an entry counts in its store. */
const sizeOf = (entry: Content | null): StoreSize =>
  entry === null
    ? { entries: 0, bytes: 0 }
    : { entries: 1, bytes: byteLength(entry.key) + byteLength(entry.value) };

class StoreSizes {
  readonly #table: RoomStorage["entries"];
  readonly #quotaBytes: number;
  readonly #organization: StoreQuota;
  readonly #sizes = new Map<string, StoreSize>();
  #totals: StoreTotals | null = null;
  /** What is stored: the sizes and totals as they were before the request. */
  readonly #sizesBefore = new Map<string, StoreSize>();
  #totalsBefore: StoreTotals = { stores: 0, bytes: 0 };
  #writtenBytes = 0;

  /** `quotaBytes` is what all stores of the room may have together, `organization` what those of all rooms may. */
  constructor(table: RoomStorage["entries"], quotaBytes: number, organization: StoreQuota) {
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

/** Texts that continue each other. */
interface EntryTexts {
  readonly texts: readonly EntryText["items"][];
  readonly bytes: number;
  /** The last key; null at the end of the store. */
  readonly lastKey: string | null;
}

/** Takes texts until there are so many bytes. */
function collectTexts(found: Iterable<EntryText>, wantedBytes: number): EntryTexts {
  const texts: EntryText["items"][] = [];
  let bytes = 0;
  for (const { items, lastKey } of found) {
    texts.push(items);
    bytes += items.length;
    if (bytes >= wantedBytes) return { texts, bytes, lastKey };
  }
  return { texts, bytes, lastKey: null };
}
