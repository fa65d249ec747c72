/** Keeps stores and writes in the browser's IndexedDB, which the tabs of an origin share. */
import type * as offline from "./storage.ts";

/** Steps between versions of the schema. A new version adds one. */
const UPGRADES: readonly ((database: IDBDatabase) => void)[] = [
  (database) => {
    database.createObjectStore("rooms");
    database.createObjectStore("entries");
    database.createObjectStore("writes");
  },
];

const requested = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Rejects with the transaction's own error if it has one, such as a full disk. */
const completed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted"));
  });

async function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, UPGRADES.length);
  request.onupgradeneeded = ({ oldVersion }) => {
    for (const upgrade of UPGRADES.slice(oldVersion)) upgrade(request.result);
  };
  return requested(request);
}

const deleteDatabase = async (name: string): Promise<void> => {
  await requested(indexedDB.deleteDatabase(name));
};

const PAGE = 10_000;

export interface IndexedDbOptions {
  /** The name of the database, `atrium` by default. */
  readonly database?: string | undefined;
}

/** Rejects when opened where there is no IndexedDB or no Web Locks: both need a page over https, or on localhost. */
export function indexedDbStorage({
  database: name = "atrium",
}: IndexedDbOptions = {}): offline.OfflineStorage {
  return {
    open: async (scope, listener) => {
      if (typeof indexedDB !== "object" || typeof navigator !== "object" || !("locks" in navigator))
        throw new Error("the page needs IndexedDB and Web Locks, which it has over https only");
      return new IndexedDbRoom(name, scope, await openDatabase(name), listener);
    },
    clear: () => deleteDatabase(name),
  };
}

const below = (...parts: readonly string[]): IDBKeyRange =>
  IDBKeyRange.bound(parts, [...parts, []], true, true);

class IndexedDbRoom implements offline.OfflineRoom {
  readonly #scope: string;
  readonly #database: IDBDatabase;
  readonly #channel: BroadcastChannel;
  readonly #prefix: string;

  constructor(name: string, scope: string, database: IDBDatabase, listener: offline.OfflineListener) {
    this.#scope = scope;
    this.#database = database;
    this.#prefix = `atrium ${name} ${scope}`;
    this.#channel = new BroadcastChannel(this.#prefix);
    this.#channel.onmessage = ({ data }) => listener.announced(String(data));
    // Another tab deletes or upgrades the database.
    database.onversionchange = () => {
      this.close();
      listener.closed("it was deleted, or a newer version of the application uses it");
    };
    database.onclose = () => listener.closed("the browser has closed the database");
  }

  async readStores(): Promise<offline.KeptStores | null> {
    const transaction = this.#database.transaction(["rooms", "entries"]);
    const entries = transaction.objectStore("entries");
    const room: Omit<offline.KeptStores, "entries"> | undefined = await requested(
      transaction.objectStore("rooms").get(this.#scope),
    );
    if (room === undefined) return null;
    const found: offline.KeptEntry[] = [];
    for (let range = below(this.#scope), isLast = false; !isLast; ) {
      const page: offline.KeptEntry[] = await requested(entries.getAll(range, PAGE));
      for (const entry of page) found.push(entry);
      const last = page.at(-1);
      isLast = last === undefined || page.length < PAGE;
      if (last !== undefined)
        range = IDBKeyRange.bound([this.#scope, last.store, last.key], range.upper, true, true);
    }
    return { ...room, entries: found };
  }

  readWrites(): Promise<readonly offline.KeptWrite[]> {
    return requested(this.#database.transaction("writes").objectStore("writes").getAll(below(this.#scope)));
  }

  async apply({ writes, settled, stores }: offline.KeptChange): Promise<void> {
    const names = stores === null ? ["writes"] : ["writes", "rooms", "entries"];
    const transaction = this.#database.transaction(names, "readwrite");
    const kept = transaction.objectStore("writes");
    for (const write of writes) kept.put(write, [this.#scope, write.writer, write.number]);
    for (const { writer, number } of settled) kept.delete([this.#scope, writer, number]);
    if (stores !== null) {
      const { seq, epoch, user, replaced, put, removed } = stores;
      const entries = transaction.objectStore("entries");
      if (replaced === "all") entries.delete(below(this.#scope));
      else for (const store of replaced) entries.delete(below(this.#scope, store));
      for (const { store, key } of removed) entries.delete([this.#scope, store, key]);
      for (const entry of put) entries.put(entry, [this.#scope, entry.store, entry.key]);
      transaction.objectStore("rooms").put({ seq, epoch, user, stores: stores.stores }, this.#scope);
    }
    // A page that is being closed has no further turn.
    transaction.commit();
    await completed(transaction);
  }

  lock(name: string, signal: AbortSignal): Promise<(() => void) | null> {
    return new Promise((resolve) => {
      const hold = () => new Promise<void>((release) => resolve(release));
      navigator.locks.request(`${this.#prefix} ${name}`, { signal }, hold).catch(() => resolve(null));
    });
  }

  announce(message: string): void {
    this.#channel.postMessage(message);
  }

  close(): void {
    this.#channel.close();
    this.#database.close();
  }
}
