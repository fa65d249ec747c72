/** `AtriumServer.stores`: the key-value stores of a room. Users in the room receive each write as it happens. */
import type { Rest } from "../core/rest.ts";
import type {
  BatchResponse,
  Entries,
  Entry,
  EntryPage,
  StoreBatch,
  StoreSummary,
  WriteOptions,
  Written,
} from "./store-entries.ts";

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
    return this.#rest.request({
      method: "GET",
      path: ["rooms", roomId, "stores", store],
      query: { ...page },
    });
  }

  /** Applies 1 to 100 batches, each by itself: one that is refused does not stop the next. */
  async batch(roomId: string, requests: readonly StoreBatch[]): Promise<readonly BatchResponse[]> {
    const path = ["rooms", roomId, "stores", "batch"];
    const request = { method: "POST", path, body: { requests } } as const;
    return (await this.#rest.request<{ responses: readonly BatchResponse[] }>(request)).responses;
  }

  /** Throws `NOT_FOUND` if there is no such entry. */
  get(roomId: string, store: string, key: string): Promise<Entry> {
    return this.#rest.request({ method: "GET", path: ["rooms", roomId, "stores", store, key] });
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
