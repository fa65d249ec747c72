/** The room's key-value stores: versions, merges, bounds, and the change that each write is told by. */
import { AppError } from "../../platform/errors.ts";
import {
  byteLength,
  MAX_STORE_BYTES,
  MAX_STORE_ENTRIES,
  MAX_STORES,
  MAX_VALUE_BYTES,
} from "../protocol/limits.ts";
import { isRecord, type StoreOperation } from "../protocol/messages.ts";
import { JsonText } from "../protocol/protocol.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredEntry } from "../storage/storage-content.ts";
import type { Changes } from "./changes.ts";

/** An entry's value and version: the seq of the change that made it so, and 0 for one that is not there. */
export interface Entry {
  readonly value: unknown;
  readonly version: number;
}

export interface Written {
  /** Left out after a deletion. */
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
   * All of a store, as the JSON of `{ entries, seq }` with the seq of the latest change that it shows. The values
   * are JSON already: to read 10,000 of them only to write them again takes twice as long.
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

  /** All of the operations or, when one is refused, none: the caller's transaction sees to that. */
  applyAll(operations: readonly StoreOperation[], by: string | null) {
    const results = operations.map((operation) => this.apply(operation, by));
    return { results, seq: this.#changes.lastSeq };
  }

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
    this.#account(store, found, entry);
    this.#storage.entries.write(store, entry);
    return { version: seq, seq };
  }

  #delete(store: string, found: StoredEntry, by: string | null): Written {
    const { key } = found;
    const { seq } = this.#changes.append("storeChanged", (version) => {
      return { store, key, action: "delete", value: null, version, by, seq: version };
    });
    this.#account(store, found, null);
    this.#storage.entries.delete(store, key);
    return { seq };
  }

  /** Counts an entry in the place of another one; CONFLICT when that is more than a store or the room may hold. */
  #account(store: string, before: StoredEntry | null, after: StoredEntry | null): void {
    const { entries, bytes } = this.#storage.entries.figures(store);
    const figures = {
      entries: entries - (before === null ? 0 : 1) + (after === null ? 0 : 1),
      bytes: bytes - (before === null ? 0 : sizeOf(before)) + (after === null ? 0 : sizeOf(after)),
    };
    if (figures.entries > MAX_STORE_ENTRIES || (figures.bytes > MAX_STORE_BYTES && figures.bytes > bytes))
      throw conflict("The store is full");
    if (entries === 0 && this.#storage.entries.listStores().length >= MAX_STORES)
      throw conflict(`A room has ${MAX_STORES} stores at most`);
    this.#storage.entries.writeFigures(store, figures);
  }
}

/** A value that {@link Stores} wrote. */
const parse = (json: string): unknown => JSON.parse(json);

function merge(found: StoredEntry | null, fields: Record<string, unknown>): Record<string, unknown> {
  const current = found === null ? {} : parse(found.value);
  if (!isRecord(current)) throw conflict("The value that is there is no JSON object");
  return { ...current, ...fields };
}
