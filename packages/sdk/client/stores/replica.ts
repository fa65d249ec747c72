/** A client's copy of a store: loaded once, kept up to date, with the client's own writes on top. */
import { isRecord } from "../../core/json.ts";
import type { Downloading } from "../connection/download.ts";
import { type Data, isCount } from "../connection/frames.ts";
import type { PendingRequests } from "../connection/requests.ts";
import {
  type Cause,
  type ChangeReason,
  type Difference,
  Entries,
  type Entry,
  type Operation,
  RESYNCED,
} from "./entries.ts";
import { type QueuedWrite, queuedWrite, type StorePersistence, type WriteTarget } from "./waiting-writes.ts";
import type { FittedWrite } from "./writes.ts";

export interface ChangeNotice extends Operation {
  readonly version: number;
  readonly by: string | null;
}

/** A store that is loaded page by page, while its changes arrive. */
interface Load extends Downloading {
  readonly changed: Set<string>;
  /** Earlier entries that were not loaded yet: the remaining ones do not exist any more. */
  unseen: Set<string>;
  readonly answered: QueuedWrite[];
}

interface ReplicaListener {
  changed(difference: Difference, cause: Cause): void;
  updated(): void;
  /** A write gets its answer, and is still pending. */
  settled(write: Operation, isRefused: boolean): void;
}

/**
 * - `unloaded`: there is nothing yet.
 * - `cached`: the entries were kept on the device; the client has not caught up with the room yet.
 * - `stale`: changes were missed, and the entries are being loaded again.
 * - `synced`: the entries are up to date, and are kept so while the client is connected.
 */
export type StoreState = "unloaded" | "cached" | "stale" | "synced";

export interface ReplicaContext {
  readonly persistence: StorePersistence | undefined;
  readonly requests: PendingRequests;
  readonly download: (
    offer: Data,
    load: Downloading,
    take: (part: Data) => void,
  ) => Promise<string | null | undefined>;
  readonly userId: () => string;
}

export class Replica implements WriteTarget {
  readonly name: string;
  readonly entries = new Entries();
  state: StoreState = "unloaded";
  readonly #context: ReplicaContext;
  readonly #listener: ReplicaListener;
  /** The cause of a confirmed value that own writes hide. */
  readonly #hidden = new Map<string, Cause>();
  #load: Load | null = null;
  #loading: Promise<void> | null = null;
  #isUpdated = false;

  constructor(name: string, context: ReplicaContext, listener: ReplicaListener) {
    this.name = name;
    this.#context = context;
    this.#listener = listener;
  }

  open(entries: Iterable<readonly [string, Entry]>): void {
    this.state = "cached";
    this.#alter(() => {
      for (const [key, entry] of entries) this.#confirm(key, entry, RESYNCED);
    });
  }

  /** Loads all entries, unless they are up to date. A device can open kept entries meanwhile. */
  sync(): Promise<void> {
    if (this.state === "synced") return Promise.resolve();
    this.#loading ??= this.#loadAll().finally(() => {
      this.#loading = null;
    });
    const loading = this.#loading;
    const shown = this.#context.persistence?.shown.then(() =>
      this.state === "cached" ? undefined : loading,
    );
    return Promise.race([loading, shown ?? loading]);
  }

  newWrite(operation: FittedWrite, group: object | null): QueuedWrite {
    return queuedWrite(this, operation, group);
  }

  /** Shows a write that the application did not call for just now. */
  show(write: Operation, reason: ChangeReason, isFirst?: boolean): Difference | null {
    const difference = this.entries.add(write, isFirst);
    this.#alter(() => this.#report(difference, { reason, userId: this.#context.userId() }));
    return difference;
  }

  settle(write: QueuedWrite, isRefused: boolean): void {
    this.#listener.settled(write, isRefused);
    // A load may bring older values than the response.
    if (!isRefused && this.#load !== null) this.#load.answered.push(write);
    else this.#alter(() => this.#uncover(write, isRefused));
  }

  #uncover(write: QueuedWrite, isRefused: boolean): void {
    const difference = this.entries.remove(write);
    const cause = this.#hidden.get(write.key) ?? RESYNCED;
    if (!this.entries.isPending(write.key)) this.#hidden.delete(write.key);
    this.#report(difference, isRefused ? { reason: "reverted", userId: this.#context.userId() } : cause);
  }

  receive({ key, action, value, version, by }: ChangeNotice): void {
    this.#load?.changed.add(key);
    this.#load?.unseen.delete(key);
    const entry = action === "delete" ? null : { value, version };
    this.#alter(() => this.#confirm(key, entry, { reason: "remote", userId: by, action }));
  }

  #confirm(key: string, entry: Entry | null, cause: Cause): void {
    if (this.entries.isPending(key)) this.#hidden.set(key, cause);
    this.#report(this.entries.confirm(key, entry), cause);
    this.#context.persistence?.confirmed(this.name, key);
  }

  rejoin(isFresh: boolean): Promise<void> | undefined {
    if (this.state === "cached") this.state = "synced";
    if (isFresh && this.state === "synced") this.state = "stale";
    if (isFresh && this.#load !== null) this.#load.isOutdated = true;
    else if (isFresh && this.state === "unloaded") this.#alter(() => this.#forget(this.entries.confirmed));
    return this.state === "stale" ? this.sync() : undefined;
  }

  async #loadAll(): Promise<void> {
    const { persistence } = this.#context;
    if (persistence !== undefined) await persistence.opened;
    if (this.state === "cached") return;
    const unseen = new Set(this.entries.confirmed);
    const load: Load = { changed: new Set(), unseen, early: [], answered: [], isOutdated: false };
    this.#load = load;
    try {
      await this.#loadPages(load, undefined, true);
    } finally {
      this.#end(load);
    }
  }

  /** The room reads each page while the one before is taken in. */
  async #loadPages(load: Load, after: string | undefined, download?: true): Promise<void> {
    const read = (page: Data): Promise<void> | undefined => {
      if (load.isOutdated) {
        load.isOutdated = false;
        load.changed.clear();
        load.unseen = new Set(this.entries.confirmed);
        load.early.length = 0;
        return this.#loadPages(load, undefined, true);
      }
      if (typeof page.download === "string") return this.#download(load, page);
      const others = typeof page.next === "string" ? this.#loadPages(load, page.next) : undefined;
      this.#alter(() => {
        for (const each of [...load.early.splice(0), page]) this.#takePage(load, each);
        if (!others) this.#finish(load);
      });
      return others;
    };
    const data = { store: this.name, after, download, lines: download };
    await this.#context.requests.send("STORE_SYNC", data, { read, overtakes: true });
  }

  async #download(load: Load, offer: Data): Promise<void> {
    const take = (part: Data) => this.#alter(() => this.#takePage(load, part));
    const after = await this.#context.download(offer, load, take);
    if (after === null) this.#alter(() => this.#finish(load));
    else await this.#loadPages(load, after);
  }

  /** A page has an object; a download has keys, values and versions in turns. */
  #takePage(load: Load, { entries }: Data): void {
    if (Array.isArray(entries))
      for (let index = 0; index < entries.length; index += 3)
        this.#take(load, entries[index], entries[index + 1], entries[index + 2]);
    // `Object.entries` would make an array for each entry of a large page.
    else if (isRecord(entries))
      for (const key of Object.keys(entries)) {
        const entry = entries[key];
        if (isRecord(entry)) this.#take(load, key, entry.value, entry.version);
      }
  }

  #take(load: Load, key: string, value: unknown, version: unknown): void {
    // A received change is newer than a downloaded entry.
    if (value === undefined || !isCount(version) || load.changed.has(key)) return;
    load.unseen.delete(key);
    this.#confirm(key, { value, version }, RESYNCED);
  }

  #finish(load: Load): void {
    this.state = "synced";
    this.#forget(load.unseen);
    this.#end(load);
    this.#context.persistence?.confirmed(this.name);
  }

  #end(load: Load): void {
    if (this.#load !== load) return;
    this.#load = null;
    this.#alter(() => {
      for (const write of load.answered) this.#uncover(write, false);
    });
  }

  #forget(keys: Iterable<string>): void {
    for (const key of keys) this.#confirm(key, null, RESYNCED);
  }

  /** Reports `updated` once for all changes of `change`. */
  #alter(change: () => void): void {
    change();
    if (!this.#isUpdated) return;
    this.#isUpdated = false;
    this.#listener.updated();
  }

  #report(difference: Difference | null, cause: Cause): void {
    if (difference === null) return;
    this.#isUpdated = true;
    this.#listener.changed(difference, cause);
  }
}
