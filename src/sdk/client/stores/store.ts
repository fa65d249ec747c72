/** A key-value store of the room: read from memory, written optimistically, in sync for everyone. */
import { Emitter } from "../../core/emitter.ts";
import { invalid } from "../../core/error.ts";
import { isRecord } from "../../core/json.ts";
import { type Data, isCount } from "../connection/frames.ts";
import type { Requests } from "../connection/requests.ts";
import { type Action, type Difference, Entries, type Entry, type Operation } from "./entries.ts";
import type { History, Restorable } from "./history.ts";
import type { StoreShape } from "./shapes.ts";
import type { QueuedWrite, WriteTarget } from "./waiting-writes.ts";
import type { Queued, WriteQueue } from "./write-queue.ts";
import {
  fitWrite,
  type KeyedDeletion,
  type KeyedWrite,
  keyedWrite,
  type Write,
  type WriteOptions,
  type Written,
} from "./writes.ts";

/** The most writes that one batch can have. */
const MAX_BATCH = 500;

/**
 * Why a value changed without a call of yours at that moment:
 * - `remote`: a write of another user, of your back end, or of your own in another tab.
 * - `reverted`: a write of yours was refused or discarded.
 * - `resynced`: the store was loaded, or loaded again after changes were missed.
 * - `history`: you have undone or redone it.
 */
export type ChangeReason = "remote" | "reverted" | "resynced" | "history";

/** The visible value of a key has changed for any reason but your own call at that moment. */
export interface StoreChange<Value> {
  readonly key: string;
  /** What was done to the entry; `set` or `delete` unless the reason is `remote`. */
  readonly action: Action;
  /** The value before; undefined if there was none. */
  readonly previous: Value | undefined;
  /** The whole new value; undefined if there is none. */
  readonly value: Value | undefined;
  /** The user whose write it is, yourself for `reverted` and `history`; null for your back end, and for `resynced`. */
  readonly userId: string | null;
  readonly reason: ChangeReason;
}

export interface StoreEvents<Value> {
  /** Applied in order on top of your own calls, these changes keep a copy equal to `getAll()`. */
  changed: StoreChange<Value>;
  /** `getAll()` returns something new, for whatever reason. */
  updated: undefined;
}

/** A change of this store as the room sends it. */
export interface ChangeNotice extends Operation {
  readonly version: number;
  readonly by: string | null;
}

/** What made a visible value change. */
interface Cause {
  readonly reason: ChangeReason;
  readonly userId: string | null;
  readonly action?: Action;
}
const RESYNCED: Cause = { reason: "resynced", userId: null };

/** A store that is being loaded, page by page, while its changes arrive. */
interface Load {
  /** The keys that were loaded or changed since it began: all others no longer exist. */
  readonly current: Set<string>;
  /** The writes that were answered since it began, which what is loaded may not contain yet. */
  readonly answered: QueuedWrite[];
  /** Whether the pages that were loaded so far may be out of date. */
  isOutdated: boolean;
}

/** What all stores of a client share. */
export interface StoreContext {
  readonly requests: Requests;
  readonly queue: WriteQueue;
  readonly history: History;
  /** Empty before the first token. */
  readonly userId: () => string;
}

/**
 * `Value` is the type of an entry, `Input` what `set` accepts, `Patch` what `update` merges into the top level.
 * A shape checks the values that this client writes; other clients can write anything.
 */
export class Store<Value = unknown, Input = Value, Patch = Record<string, unknown>>
  extends Emitter<StoreEvents<Value>>
  implements WriteTarget, Restorable
{
  readonly name: string;
  readonly #requests: Requests;
  readonly #queue: WriteQueue;
  readonly #history: History;
  readonly #shape: StoreShape | null;
  readonly #userId: () => string;
  readonly #entries = new Entries();
  /** Why a key has its confirmed value, while writes of this client hide that value. */
  readonly #hidden = new Map<string, Cause>();
  /** `stale` if changes may have been missed. */
  #synced: "never" | "stale" | "yes" = "never";
  #load: Load | null = null;
  #loading: Promise<void> | null = null;
  #isUpdated = false;

  constructor(name: string, shape: StoreShape | null, { requests, queue, history, userId }: StoreContext) {
    super();
    this.name = name;
    this.#shape = shape;
    this.#requests = requests;
    this.#queue = queue;
    this.#history = history;
    this.#userId = userId;
  }

  /** Loads all entries once. From then on they are kept up to date, also across reconnections. */
  sync(): Promise<void> {
    if (this.#synced === "yes") return Promise.resolve();
    this.#loading ??= this.#loadAll().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** All values by key: the same object until something changes. It has no prototype. */
  getAll(): Readonly<Record<string, Value>> {
    return this.#assumeType(this.#entries.getAll());
  }

  /** The value, or undefined if there is no such entry. */
  get(key: string): Value | undefined {
    return this.#assumeType(this.#entries.get(key));
  }

  /** The version to pass as `ifVersion`: that of the entry in the room, 0 for no entry. */
  getVersion(key: string): number {
    return this.#entries.getVersion(key);
  }

  /** Your writes that the service has not confirmed: those of one key in the order in which they were made. */
  get unconfirmed(): readonly Operation[] {
    return this.#entries.pending;
  }

  /** Writes a whole value. It is visible at once, and rolled back if the promise is rejected. */
  set(key: string, value: Input, options?: WriteOptions): Promise<Written>;
  set(write: KeyedWrite<Input>): Promise<Written>;
  set(target: string | KeyedWrite<Input>, value?: Input, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ ...keyedWrite(target, options, value), action: "set" });
  }

  /** Merges fields into the top level of a value, like {@link set}. Throws CONFLICT if the value is not an object. */
  update(key: string, value: Patch, options?: WriteOptions): Promise<Written>;
  update(write: KeyedWrite<Patch>): Promise<Written>;
  update(target: string | KeyedWrite<Patch>, value?: Patch, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ ...keyedWrite(target, options, value), action: "update" });
  }

  /** Deletes an entry, like {@link set}. Deleting an entry that does not exist succeeds. */
  delete(key: string, options?: WriteOptions): Promise<Written>;
  delete(write: KeyedDeletion): Promise<Written>;
  delete(target: string | KeyedDeletion, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ ...keyedWrite(target, options), action: "delete" });
  }

  /** Applies 1 to 500 writes: all of them or none. */
  async batch(writes: readonly Write<Input, Patch>[]): Promise<readonly Written[]> {
    if (writes.length < 1 || writes.length > MAX_BATCH)
      throw invalid("Stores", `writes must be 1 to ${MAX_BATCH}`);
    const fitted = writes.map((write) => fitWrite(this.#shape, write));
    const queued = this.#queue.addBatch(this, fitted);
    this.#show(queued);
    return Promise.all(queued.map(({ written }) => written));
  }

  async #write(write: Write<unknown, unknown>): Promise<Written> {
    const queued = this.#queue.add(this, fitWrite(this.#shape, write));
    this.#show([queued]);
    return queued.written;
  }

  /** Shows writes of this client at once. */
  #show(queued: readonly Queued[]): void {
    const differences = queued.flatMap(({ write }) => this.#entries.add(write) ?? []);
    this.#history.record(this, differences);
    if (differences.length > 0) this.emit("updated", undefined);
  }

  /** Called by the history: writes, and returns what this has changed. Throws NOT_JOINED. */
  restore(operation: Operation): Difference | null {
    const { write, written } = this.#queue.add(this, operation);
    written.catch(() => {}); // a refusal is a change as well
    const difference = this.#entries.add(write);
    this.#alter(() => this.#report(difference, { reason: "history", userId: this.#userId() }));
    return difference;
  }

  /** Called by the queue: the entry shows what the room has confirmed. */
  settle(write: QueuedWrite, isRefused: boolean): void {
    // While the store is loaded, what the room has confirmed can be older than the response.
    if (!isRefused && this.#load !== null) this.#load.answered.push(write);
    else this.#alter(() => this.#uncover(write, isRefused));
  }

  #uncover(write: QueuedWrite, isRefused: boolean): void {
    const difference = this.#entries.remove(write);
    const cause = this.#hidden.get(write.key) ?? RESYNCED;
    if (!this.#entries.isPending(write.key)) this.#hidden.delete(write.key);
    this.#report(difference, isRefused ? { reason: "reverted", userId: this.#userId() } : cause);
  }

  /** Takes in a change of the room. Changes arrive in order. */
  receive({ key, action, value, version, by }: ChangeNotice): void {
    this.#load?.current.add(key);
    const entry = action === "delete" ? null : { value, version };
    this.#alter(() => this.#confirm(key, entry, { reason: "remote", userId: by, action }));
  }

  #confirm(key: string, entry: Entry | null, cause: Cause): void {
    if (this.#entries.isPending(key)) this.#hidden.set(key, cause);
    this.#report(this.#entries.confirm(key, entry), cause);
  }

  /** The room was joined again; with `isFresh`, missed changes are not known. */
  rejoin(isFresh: boolean): Promise<void> | undefined {
    if (isFresh && this.#synced === "yes") this.#synced = "stale";
    if (isFresh && this.#load !== null) this.#load.isOutdated = true;
    else if (isFresh && this.#synced === "never") this.#alter(() => this.#forgetExcept(new Set()));
    return this.#synced === "stale" ? this.sync() : undefined;
  }

  async #loadAll(): Promise<void> {
    const load: Load = { current: new Set(), answered: [], isOutdated: false };
    this.#load = load;
    try {
      await this.#loadPages(load, null);
    } finally {
      this.#end(load);
    }
  }

  /** Loads the entries after a key, or all. The room reads each page while the one before is taken in. */
  async #loadPages(load: Load, after: string | null): Promise<void> {
    const data = { store: this.name, ...(after === null ? {} : { after }) };
    const read = (page: Data): Promise<void> | undefined => {
      if (load.isOutdated) {
        load.isOutdated = false;
        load.current.clear();
        return this.#loadPages(load, null);
      }
      const others = typeof page.next === "string" ? this.#loadPages(load, page.next) : undefined;
      this.#takePage(load, page);
      return others;
    };
    await this.#requests.send("STORE_SYNC", data, { read });
  }

  #takePage(load: Load, { entries, next }: Data): void {
    this.#alter(() => {
      for (const [key, entry] of Object.entries(isRecord(entries) ? entries : {})) {
        if (!isEntry(entry)) continue;
        load.current.add(key);
        this.#confirm(key, entry, RESYNCED);
      }
      if (typeof next === "string") return;
      this.#synced = "yes";
      this.#forgetExcept(load.current);
      this.#end(load);
    });
  }

  #end(load: Load): void {
    if (this.#load !== load) return;
    this.#load = null;
    this.#alter(() => {
      for (const write of load.answered) this.#uncover(write, false);
    });
  }

  #forgetExcept(current: ReadonlySet<string>): void {
    for (const key of this.#entries.confirmedKeys) if (!current.has(key)) this.#confirm(key, null, RESYNCED);
  }

  /** Emits `updated` once for everything that `change` does. */
  #alter(change: () => void): void {
    change();
    if (!this.#isUpdated) return;
    this.#isUpdated = false;
    this.emit("updated", undefined);
  }

  #report(difference: Difference | null, { reason, userId, action }: Cause): void {
    if (difference === null) return;
    this.#isUpdated = true;
    const { key, previous, value } = difference;
    // A deletion beneath a write of this client leaves a value, and a refused write can leave none.
    const isPlain = action === undefined || (action === "delete") !== (value === undefined);
    this.emit("changed", {
      key,
      action: isPlain ? (value === undefined ? "delete" : "set") : action,
      previous: this.#assumeType(previous),
      value: this.#assumeType(value),
      userId,
      reason,
    });
  }

  /** Values of other clients are assumed to fit the shape: ignoring them would only make the copies differ. */
  #assumeType<Trusted>(value: unknown): Trusted {
    return value as Trusted;
  }
}

const isEntry = (entry: unknown): entry is Entry =>
  isRecord(entry) && isCount(entry.version) && "value" in entry;
