/** `AtriumServer.stores`: the key-value stores of a room. Users in the room receive each write as it happens. */
import type { Rest } from "../core/rest.ts";

export interface Entry {
  readonly value: unknown;
  /** The `seq` of the change that wrote this value. */
  readonly version: number;
}

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise `CONFLICT`. */
  readonly ifVersion?: number;
}

export interface Written {
  /** The entry's new version. */
  readonly version: number;
  /** The room's latest change. */
  readonly seq: number;
}

/** A store and how many entries it has. */
export interface StoreSummary {
  readonly name: string;
  readonly entries: number;
}

export class Stores {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The stores of a room that have entries. */
  async list(roomId: string): Promise<StoreSummary[]> {
    const request = { method: "GET", path: ["rooms", roomId, "stores"] } as const;
    return (await this.#rest.request<{ stores: StoreSummary[] }>(request)).stores;
  }

  /** All entries by key, and the room's latest change. A store that does not exist has no entries. */
  getAll(
    roomId: string,
    store: string,
  ): Promise<{ readonly entries: Record<string, Entry>; readonly seq: number }> {
    return this.#rest.request({ method: "GET", path: ["rooms", roomId, "stores", store] });
  }

  /** Throws `NOT_FOUND` if there is no such entry. */
  get(roomId: string, store: string, key: string): Promise<Entry> {
    return this.#rest.request({ method: "GET", path: ["rooms", roomId, "stores", store, key] });
  }

  /** Writes a whole value: any JSON of at most 64 KiB. */
  set(
    roomId: string,
    store: string,
    key: string,
    value: unknown,
    options: WriteOptions = {},
  ): Promise<Written> {
    return this.#write("PUT", ["rooms", roomId, "stores", store, key], { value, ...options });
  }

  /** Merges fields into the top level of a value. Throws `CONFLICT` if the value is not an object. */
  update(
    roomId: string,
    store: string,
    key: string,
    fields: object,
    options: WriteOptions = {},
  ): Promise<Written> {
    return this.#write("PATCH", ["rooms", roomId, "stores", store, key], { value: fields, ...options });
  }

  /** Deletes an entry. Deleting one that does not exist succeeds. */
  async delete(roomId: string, store: string, key: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["rooms", roomId, "stores", store, key] });
  }

  #write(
    method: "PUT" | "PATCH",
    path: readonly string[],
    body: { readonly value: unknown } & WriteOptions,
  ): Promise<Written> {
    return this.#rest.request({ method, path, body, isConditional: "ifVersion" in body });
  }
}
