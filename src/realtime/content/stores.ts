/** The room's key-value stores: versions, merges, limits, and a change for each write. */
import { AppError } from "../../platform/errors.ts";
import { byteLength } from "../../platform/text.ts";
import { JsonText } from "../protocol/frame.ts";
import { MAX_STORE_BYTES, MAX_STORE_ENTRIES, MAX_STORES, MAX_VALUE_BYTES } from "../protocol/limits.ts";
import { isRecord, type StoreOperation } from "../protocol/messages.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredEntry } from "../storage/storage-content.ts";
import type { Changes } from "./changes.ts";

/** An entry's value and version: the seq of the change that wrote it; null and 0 when there is none. */
export interface Entry {
  readonly value: unknown;
  readonly version: number;
}

export interface Written {
  /** Absent after a deletion. */
  readonly version?: number;
  readonly seq: number;
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);
const sizeOf = ({ key, value }: StoredEntry): number => byteLength(key) + byteLength(value);

export class Stores {
  readonly #storage: RoomStorage;
  readonly #changes: Changes;

  constructor(storage: RoomStorage, changes: Changes) {
    this.#storage = storage;
    this.#changes = changes;
  }

  list(): { readonly name: string; readonly entries: number }[] {
    return this.#storage.entries.listStores().map(({ name, entries }) => ({ name, entries }));
  }

  /**
   * The whole store, as the JSON of `{ entries, seq }` with the seq of the room's latest change. The values are
   * JSON already: parsing 10,000 of them only to serialize them again takes twice as long.
   */
  sync(store: string): JsonText {
    const entries = this.#storage.entries
      .list(store)
      .map(({ key, value, version }) => `${JSON.stringify(key)}:{"value":${value},"version":${version}}`);
    return new JsonText(`{"entries":{${entries.join()}},"seq":${this.#changes.lastSeq}}`);
  }

  get(store: string, key: string): Entry {
    const entry = this.#storage.entries.find(store, key);
    return entry === null
      ? { value: null, version: 0 }
      : { value: parse(entry.value), version: entry.version };
  }

  /** Applies all operations; the caller's transaction makes sure that a refused one undoes the others. */
  applyAll(operations: readonly StoreOperation[], by: string | null) {
    const results = operations.map((operation) => this.apply(operation, by));
    return { results, seq: this.#changes.lastSeq };
  }

  /** Writes or deletes one entry. CONFLICT unless it has `ifVersion`, when that is given. */
  apply(operation: StoreOperation, by: string | null): Written {
    const { store, key, ifVersion } = operation;
    const found = this.#storage.entries.find(store, key);
    if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0))
      throw conflict(`The entry has version ${found?.version ?? 0}`);
    switch (operation.type) {
      case "STORE_SET":
        return this.#write("set", store, key, operation.value, found, by);
      case "STORE_UPDATE":
        return this.#write("update", store, key, merge(found, operation.value), found, by);
      case "STORE_DELETE":
        return found === null ? { seq: this.#changes.lastSeq } : this.#delete(store, found, by);
    }
  }

  #write(
    action: "set" | "update",
    store: string,
    key: string,
    value: unknown,
    found: StoredEntry | null,
    by: string | null,
  ): Written {
    const json = JSON.stringify(value);
    if (byteLength(json) > MAX_VALUE_BYTES)
      throw new AppError("Rooms", "VALIDATION_ERROR", `value: must have at most ${MAX_VALUE_BYTES} bytes`);
    const { seq } = this.#changes.append("storeChanged", (version) => {
      return { store, key, action, value, version, by, seq: version };
    });
    const entry: StoredEntry = { key, value: json, version: seq };
    this.#resize(store, found, entry);
    this.#storage.entries.write(store, entry);
    return { version: seq, seq };
  }

  #delete(store: string, found: StoredEntry, by: string | null): Written {
    const { key } = found;
    const { seq } = this.#changes.append("storeChanged", (version) => {
      return { store, key, action: "delete", value: null, version, by, seq: version };
    });
    this.#resize(store, found, null);
    this.#storage.entries.delete(store, key);
    return { seq };
  }

  /** Counts an entry in place of another one; CONFLICT when the store or the room would exceed its limits. */
  #resize(store: string, before: StoredEntry | null, after: StoredEntry | null): void {
    const { entries, bytes } = this.#storage.entries.size(store);
    const size = {
      entries: entries - (before === null ? 0 : 1) + (after === null ? 0 : 1),
      bytes: bytes - (before === null ? 0 : sizeOf(before)) + (after === null ? 0 : sizeOf(after)),
    };
    if (size.entries > MAX_STORE_ENTRIES || (size.bytes > MAX_STORE_BYTES && size.bytes > bytes))
      throw conflict("The store is full");
    if (entries === 0 && this.#storage.entries.listStores().length >= MAX_STORES)
      throw conflict(`A room can have at most ${MAX_STORES} stores`);
    this.#storage.entries.writeSize(store, size);
  }
}

/** A value that {@link Stores} wrote. */
const parse = (json: string): unknown => JSON.parse(json);

function merge(found: StoredEntry | null, fields: Record<string, unknown>): Record<string, unknown> {
  const current = found === null ? {} : parse(found.value);
  if (!isRecord(current)) throw conflict("The current value is not a JSON object");
  return { ...current, ...fields };
}
