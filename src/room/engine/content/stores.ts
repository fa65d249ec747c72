/** The room's key-value stores: versions, merges, limits, their quota, and a change for each write. */
import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import type {
  BatchOperation,
  StoreBatch,
  StoreOperation,
  StorePage,
} from "@atrium/contract/operations/stores.ts";
import { isRecord } from "@atrium/contract/operations/values.ts";
import { describeExceeded, type QuotaUse } from "@atrium/contract/resources/quota.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import type { Fault } from "../../protocol/protocol.ts";
import type { StoredEntry, StoreSize } from "../../storage/sqlite-journal.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { StoreEvents } from "../outbox/delayed-events.ts";
import type { Changes } from "./changes.ts";
import { type LimitedStorage, requireWithinLimit } from "./own-limits.ts";

interface Written {
  /** Absent after a deletion. */
  readonly version?: number;
  readonly seq: number;
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);
const invalid = (why: string) => new AppError("Rooms", "VALIDATION_ERROR", why);

/** The entry that an operation is about, as found. */
interface WriteTarget {
  readonly store: string;
  readonly key: string;
  readonly found: StoredEntry | null;
  /** The author; null for the organization. */
  readonly by: string | null;
  readonly sizes: StoreSizes;
}

/** Texts that continue each other. */
interface EntryTexts {
  readonly texts: readonly Uint8Array[];
  readonly bytes: number;
  /** The last key; null at the end of the store. */
  readonly lastKey: string | null;
}

export class RoomStores {
  readonly #entries: RoomStorage["entries"];
  readonly #changes: Changes;
  readonly #events: StoreEvents;
  readonly #limits: RoomPorts["limits"];
  readonly #quota: StoreQuota;
  /** Keys and values that were written since the room has started, also by requests that were undone. */
  writtenBytes = 0;

  constructor(
    { storage, limits }: Pick<RoomPorts, "storage" | "limits">,
    changes: Changes,
    events: StoreEvents,
    quota: StoreQuota,
  ) {
    this.#entries = storage.entries;
    this.#changes = changes;
    this.#events = events;
    this.#limits = limits;
    this.#quota = quota;
  }

  list(): readonly (StoreSize & { readonly name: string })[] {
    return this.#entries.listStores();
  }

  /**
   * A page of a store, as the JSON of `{ entries, seq, next? }` with the seq of the room's latest change: at least one
   * entry, and then as many as fit. `next` is the last key of a page that others follow. Values stay JSON: parsing and
   * serializing them takes twice as long.
   */
  page({ store, after, limit }: StorePage): JsonText {
    let members = "";
    let count = 0;
    let last: string | undefined;
    let next: string | undefined;
    for (const { key, value, version } of this.#entries.scan(store, after ?? null)) {
      const text = `${JSON.stringify(key)}:{"value":${value},"version":${version}}`;
      if (count === limit || (count > 0 && members.length + text.length > LIMITS.pageBytes)) {
        next = last;
        break;
      }
      members += count === 0 ? text : `,${text}`;
      count += 1;
      last = key;
    }
    return JsonText.of({ entries: new JsonText(`{${members}}`), seq: this.#changes.lastSeq, next });
  }

  /** The size of a store, in bytes of keys and of JSON. */
  bytesOf(store: string): number {
    return this.#entries.size(store).bytes;
  }

  /** Entries after a key (null: all of them) of about `wantedBytes`. */
  readTexts(store: string, after: string | null, wantedBytes: number): EntryTexts {
    const texts: Uint8Array[] = [];
    let bytes = 0;
    for (const { items, lastKey } of this.#entries.scanText(store, after)) {
      texts.push(items);
      bytes += items.length;
      if (bytes >= wantedBytes) return { texts, bytes, lastKey };
    }
    return { texts, bytes, lastKey: null };
  }

  /** An entry as the JSON of `{ value, version }`: null and 0 when there is none. */
  get(store: string, key: string): JsonText {
    const { value, version } = this.#entries.find(store, key) ?? { value: "null", version: 0 };
    return JsonText.of({ value: new JsonText(value), version });
  }

  /**
   * Applies a batch. If it is `atomic`, the caller's transaction undoes the operations before a refused one; otherwise
   * each is applied or refused by itself.
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
  apply(operation: Exclude<StoreOperation, { type: "STORE_DELETE" }>, by: string | null): Required<Written>;
  apply(operation: StoreOperation, by: string | null): Written;
  apply(operation: StoreOperation, by: string | null): Written {
    return this.#write((sizes) => this.#apply(operation, by, sizes));
  }

  /** Saves the sizes that `work` has counted, and notes the changed stores for their events. */
  #write<T>(work: (sizes: StoreSizes) => T): T {
    const sizes = new StoreSizes(this.#entries, this.#limits().storeBytes, this.#quota);
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

  /** A refusal becomes a result; any other error fails the whole request. */
  #attempt(
    operation: BatchOperation,
    by: string | null,
    sizes: StoreSizes,
  ): Written | { readonly error: Fault } {
    try {
      return this.#apply(operation, by, sizes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, module, message } = error;
      return { error: { code, module, message } };
    }
  }

  /** Refuses an operation before it changes anything, so that the operations beside it can go on. */
  #apply(operation: BatchOperation, by: string | null, sizes: StoreSizes): Written {
    if (operation.type === "INVALID") throw invalid(operation.message);
    sizes.requireWritable();
    const { store, key, ifVersion } = operation;
    const found = this.#entries.find(store, key);
    if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0))
      throw conflict(`The entry has version ${found?.version ?? 0}`);
    const target = { store, key, found, by, sizes };
    switch (operation.type) {
      case "STORE_SET":
        return this.#put(target, "set", operation.value);
      case "STORE_UPDATE":
        return this.#put(target, "update", merge(found, operation.value));
      case "STORE_DELETE":
        return { seq: found === null ? this.#changes.lastSeq : this.#change(target, "delete", null) };
    }
  }

  #put(target: WriteTarget, action: "set" | "update", value: unknown): Written {
    const json = JSON.stringify(value);
    if (byteLength(json) > LIMITS.valueBytes)
      throw invalid(`value: must have at most ${LIMITS.valueBytes} bytes`);
    const seq = this.#change(target, action, json);
    return { version: seq, seq };
  }

  /** Writes the entry with its change; null deletes it. Returns the seq of the change. */
  #change({ store, key, found, by, sizes }: WriteTarget, action: string, json: string | null): number {
    sizes.replace(store, found, json === null ? null : { key, value: json });
    const value = new JsonText(json ?? "null");
    const { seq } = this.#changes.append(
      "storeChanged",
      (version) => JsonText.of({ store, key, action, value, version, by, seq: version }),
      { store, key, value: json },
    );
    return seq;
  }
}

/** A value that {@link RoomStores} wrote. */
const parse = (json: string): unknown => JSON.parse(json);

function merge(found: StoredEntry | null, fields: Record<string, unknown>): Record<string, unknown> {
  const current = found === null ? {} : parse(found.value);
  if (!isRecord(current)) throw conflict("The current value is not a JSON object");
  return { ...current, ...fields };
}

type Content = Pick<StoredEntry, "key" | "value">;

/** The share of an entry in the size of its store. */
const sizeOf = (entry: Content | null): StoreSize =>
  entry === null
    ? { entries: 0, bytes: 0 }
    : { entries: 1, bytes: byteLength(entry.key) + byteLength(entry.value) };

/** The sizes of the stores that one request changes: read once, checked at each write, and written once. */
class StoreSizes {
  readonly #table: RoomStorage["entries"];
  readonly #roomQuotaBytes: number;
  readonly #quota: StoreQuota;
  /** Stored size of each store, and its size with this request. */
  readonly #sizes = new Map<string, { readonly stored: StoreSize; readonly size: StoreSize }>();
  #storedBytes = 0;
  /** The totals of all stores, with this request; null before its first write. */
  #totals: { readonly stores: number; readonly bytes: number } | null = null;
  /** Keys and values that the request has written. */
  writtenBytes = 0;

  constructor(table: RoomStorage["entries"], roomQuotaBytes: number, quota: StoreQuota) {
    this.#table = table;
    this.#roomQuotaBytes = roomQuotaBytes;
    this.#quota = quota;
  }

  /** VALIDATION_ERROR once the request has written enough: later operations are not even read. */
  requireWritable(): void {
    if (this.writtenBytes < LIMITS.writtenBytes) return;
    throw invalid(
      `operations: a batch writes at most ${LIMITS.writtenBytes} bytes; send the others in another one`,
    );
  }

  /**
   * Counts an entry in place of another one. CONFLICT above the limits of stores, FORBIDDEN above a quota of the room
   * or the organization; then nothing is counted. A write that makes a store smaller is always accepted.
   */
  replace(store: string, before: Content | null, after: Content | null): void {
    const known = this.#sizes.get(store);
    const stored = known?.stored ?? this.#table.size(store);
    const size = known?.size ?? stored;
    const totals = this.#totals ?? this.#readTotals();
    const [removed, added] = [sizeOf(before), sizeOf(after)];
    const growth = added.bytes - removed.bytes;
    const entries = size.entries - removed.entries + added.entries;
    const bytes = size.bytes + growth;
    const stores = totals.stores + Math.sign(entries) - Math.sign(size.entries);
    if (entries > size.entries && entries > LIMITS.storeEntries)
      throw conflict(`store: is full; a store can have at most ${LIMITS.storeEntries} entries`);
    if (growth > 0 && bytes > LIMITS.storeBytes)
      throw conflict(`store: is full; a store can have at most ${LIMITS.storeBytes} bytes`);
    if (stores > totals.stores && stores > LIMITS.stores)
      throw conflict(`store: is one too many; a room can have at most ${LIMITS.stores} stores`);
    if (growth > 0 && totals.bytes + growth > this.#roomQuotaBytes)
      throw new AppError(
        "Rooms",
        "FORBIDDEN",
        `The quota store_bytes_per_room is exceeded: ${totals.bytes} of ${this.#roomQuotaBytes} bytes are in use, and this write needs ${growth} more; delete entries`,
      );
    this.#quota.require("stores", totals.bytes, totals.bytes + growth);
    this.#sizes.set(store, { stored, size: { entries, bytes } });
    this.#totals = { stores, bytes: totals.bytes + growth };
    this.writtenBytes += added.bytes;
  }

  #readTotals() {
    const totals = this.#table.totals();
    this.#storedBytes = totals.bytes;
    return totals;
  }

  /** The stores in which something was counted. */
  get stores(): Iterable<string> {
    return this.#sizes.keys();
  }

  /** Writes the sizes that have changed: each written row costs money. */
  save(): void {
    for (const [store, { stored, size }] of this.#sizes)
      if (size.entries !== stored.entries || size.bytes !== stored.bytes) this.#table.writeSize(store, size);
    if (this.#totals !== null) this.#quota.changed(this.#storedBytes, this.#totals.bytes);
  }
}

const LIMIT_OF = { stores: "storeBytes", documents: "documentBytes", streams: "streamBytes" } as const;
type CountedPart = keyof typeof LIMIT_OF;
const PARTS = Object.keys(LIMIT_OF) as CountedPart[];

/** The database learns of each such step that a part of the room has grown or shrunk by. */
const STEP_BYTES = 1024 * 1024;

const stepOf = (bytes: number): number => Math.floor(bytes / STEP_BYTES);

interface QuotaPorts extends Pick<RoomPorts, "planAlarm"> {
  readonly storage: LimitedStorage;
}

/** The quota of stored bytes as the database last answered it, checked before a room grows. */
export class StoreQuota {
  readonly #ports: QuotaPorts;
  readonly #bytesOf: (part: CountedPart) => number;
  /** The organization's use when the database counted these bytes of the room; null until the first copy. */
  #known: { readonly use: QuotaUse; readonly roomBytes: number } | null = null;
  #isDue = false;
  /** `isDue` when the latest copy began. */
  #wasDue = false;

  /** `bytesOf` returns the size of a part of the room in storage. */
  constructor(ports: QuotaPorts, bytesOf: (part: CountedPart) => number) {
    this.#ports = ports;
    this.#bytesOf = bytesOf;
  }

  get roomBytes(): number {
    return PARTS.reduce((sum, part) => sum + this.#bytesOf(part), 0);
  }

  /** True when the database should learn how many bytes the room has. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** A part is to have `after` instead of `before` bytes. FORBIDDEN above the room's own limit or the organization's quota. */
  require(part: CountedPart, before: number, after: number): void {
    requireWithinLimit(this.#ports.storage, LIMIT_OF[part], before, after);
    if (this.#known === null || after <= before) return;
    const { use, roomBytes } = this.#known;
    const used = use.used - roomBytes + this.roomBytes - this.#bytesOf(part) + before;
    if (used - before + after <= use.limit) return;
    this.#setDue(); // others may have deleted something, or the limit was raised
    throw new AppError("Accounts", "FORBIDDEN", describeExceeded({ ...use, used }));
  }

  /** A part has `after` instead of `before` bytes. */
  changed(before: number, after: number): void {
    if (stepOf(before) !== stepOf(after)) this.#setDue();
  }

  #setDue(): void {
    if (!this.#isDue) this.#ports.planAlarm();
    this.#isDue = true;
  }

  /** A copy begins, of the bytes as they are now. */
  copying(): void {
    this.#wasDue = this.#isDue;
    this.#isDue = false;
  }

  copyFailed(): void {
    this.#isDue ||= this.#wasDue;
  }

  /** The database counts these bytes of the room, and this is the organization's use with them. */
  copied(use: QuotaUse, roomBytes: number): void {
    this.#known = { use, roomBytes };
  }
}
