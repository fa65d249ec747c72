/** `AtriumServer.stores`: the key-value stores of a room. Users in the room receive each write as it happens. */
import type { Entries, Entry, StoreSummary, Written } from "../wire/resources.ts";
import { Resource } from "./pages.ts";

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise `CONFLICT`. */
  readonly ifVersion?: number;
}

/** A page of a store's entries. */
export interface EntryPage {
  /** Only the entries after this key. */
  readonly after?: string;
  /** At most 10,000, which is the default. A page has about 1 MiB at most. */
  readonly limit?: number;
}

/** One operation of a batch. */
export type StoreOperation = { readonly store: string; readonly key: string } & WriteOptions &
  (
    | { readonly type: "STORE_SET"; readonly value: unknown }
    | { readonly type: "STORE_UPDATE"; readonly value: object }
    | { readonly type: "STORE_DELETE" }
  );

/** 1 to 500 operations: all or none, unless `atomic` is false. Sent again under its id, a batch is carried out once. */
export interface StoreBatch {
  readonly requestId: string;
  readonly operations: readonly StoreOperation[];
  readonly atomic?: boolean;
}

interface Refusal {
  readonly code: string;
  readonly module: string;
  readonly message: string;
}

/** The response to one batch. In a batch that is not atomic, an operation can be refused by itself. */
export interface BatchResponse {
  readonly requestId: string;
  readonly success: boolean;
  readonly data: {
    readonly results?: readonly (
      | { readonly version?: number; readonly seq: number }
      | { readonly error: Refusal }
    )[];
    readonly seq?: number;
  };
  readonly error: Refusal | null;
}

export class Stores extends Resource {
  /** The stores of a room that have entries. */
  async list(roomId: string): Promise<StoreSummary[]> {
    return (await this.rest.get<{ stores: StoreSummary[] }>(["rooms", roomId, "stores"])).stores;
  }

  /**
   * All entries by key, read page by page, and the room's latest change at the last page. A store that does not exist
   * has no entries.
   */
  async getAll(roomId: string, store: string): Promise<Omit<Entries, "next">> {
    const all = new Map<string, Entry>();
    for (let after: string | undefined; ; ) {
      const { entries, seq, next } = await this.getPage(roomId, store, after === undefined ? {} : { after });
      for (const [key, entry] of Object.entries(entries)) all.set(key, entry);
      if (next === undefined) return { entries: Object.fromEntries(all), seq };
      after = next;
    }
  }

  /** Some of the entries: for stores that are too large to hold whole. */
  getPage(roomId: string, store: string, page: EntryPage = {}): Promise<Entries> {
    return this.rest.get(["rooms", roomId, "stores", store], page);
  }

  /** Applies 1 to 100 batches, each by itself: one that is refused does not stop the next. */
  async batch(roomId: string, requests: readonly StoreBatch[]): Promise<readonly BatchResponse[]> {
    const path = ["rooms", roomId, "stores", "batch"];
    return (await this.rest.post<{ responses: readonly BatchResponse[] }>(path, { requests })).responses;
  }

  /** Throws `NOT_FOUND` if there is no such entry. */
  get(roomId: string, store: string, key: string): Promise<Entry> {
    return this.rest.get(["rooms", roomId, "stores", store, key]);
  }

  /** Writes a whole value: any JSON of at most 192 KiB. */
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
  delete(roomId: string, store: string, key: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "stores", store, key]);
  }

  #write(
    method: "PUT" | "PATCH",
    path: readonly string[],
    body: { readonly value: unknown } & WriteOptions,
  ): Promise<Written> {
    return this.rest.request({ method, path, body, isConditional: "ifVersion" in body });
  }
}
