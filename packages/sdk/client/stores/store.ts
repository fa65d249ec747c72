/** A key-value store of the room: read from memory, written optimistically, in sync for everyone. */
import { Emitter, getOrAdd } from "../../core/emitter.ts";
import { invalid } from "../../core/error.ts";
import { assumeType, type Frozen } from "../../core/json.ts";
import { type Abortable, abortable, type Runtime } from "../../core/runtime.ts";
import type { Connection } from "../connection/connection.ts";
import { isCount } from "../connection/frames.ts";
import { type Action, type Difference, describeChange, type Operation, type StoreEvents } from "./entries.ts";
import { History, type Restorable, type Shown } from "./history.ts";
import { type ChangeNotice, Replica, type ReplicaContext, type StoreState } from "./replica.ts";
import type { StorePersistence } from "./waiting-writes.ts";
import { type Queued, WriteQueue } from "./write-queue.ts";
import {
  fitWrite,
  type InputOf,
  type KeyedDeletion,
  type KeyedWrite,
  keyedWrite,
  type PatchOf,
  type StoreShape,
  type StoreShapes,
  type ValueOf,
  type Write,
  type WriteOptions,
  type Written,
} from "./writes.ts";

const MAX_BATCH = 500;

interface StoreContext extends ReplicaContext {
  readonly queue: WriteQueue;
  readonly history: History;
}

/**
 * `Value` is the type of an entry, `Input` the argument of `set`, `Patch` the fields that `update` merges.
 * A shape checks the values that this client writes; other clients can write anything.
 */
export class Store<Value = unknown, Input = Value, Patch = Record<string, unknown>>
  extends Emitter<StoreEvents<Value>>
  implements Restorable
{
  readonly name: string;
  /** The client's copy of the store. Not for applications. */
  readonly replica: Replica;
  readonly #context: StoreContext;
  readonly #shape: StoreShape | null;

  constructor(name: string, shape: StoreShape | null, context: StoreContext) {
    super();
    this.name = name;
    this.replica = new Replica(name, context, {
      changed: (difference, cause) => {
        if (this.hasListeners("changed")) this.emit("changed", assumeType(describeChange(difference, cause)));
      },
      updated: () => this.emit("updated", undefined),
      settled: (write, isRefused) => {
        if (isRefused) context.history.refused(write, this.replica.entries.writesOf(write.key));
        else context.history.accepted(write);
      },
    });
    this.#shape = shape;
    this.#context = context;
  }

  get state(): StoreState {
    return this.replica.state;
  }

  /**
   * Loads all entries once, or opens the kept ones. They are kept up to date from then on, also across
   * reconnections.
   */
  sync(options: Abortable = {}): Promise<void> {
    return abortable(this.replica.sync(), options);
  }

  /**
   * All values by key: the same object until something changes. Has no prototype. No value can be changed in
   * place.
   */
  getAll(): Readonly<Record<string, Frozen<Value>>> {
    return assumeType(this.replica.entries.getAll());
  }

  /** The value, or undefined if there is no such entry. */
  get(key: string): Frozen<Value> | undefined {
    return assumeType(this.replica.entries.get(key));
  }

  /** The version to pass as `ifVersion`: that of the entry in the room, 0 for no entry. */
  getVersion(key: string): number {
    return this.replica.entries.getConfirmed(key).version;
  }

  /** Your writes that the service has not confirmed, for each key in their order. */
  get unconfirmed(): readonly Operation[] {
    return this.replica.entries.pending;
  }

  /** Writes a whole value. The write is visible at once, and rolled back if the promise is rejected. */
  set(key: string, value: Input, options?: WriteOptions): Promise<Written>;
  set(write: KeyedWrite<Input>): Promise<Written>;
  set(target: string | KeyedWrite<Input>, value?: Input, options?: WriteOptions): Promise<Written> {
    return this.#write("set", target, options, value);
  }

  /** Merges fields into the top level of a value, like {@link set}. Throws CONFLICT if the value is not an object. */
  update(key: string, value: Patch, options?: WriteOptions): Promise<Written>;
  update(write: KeyedWrite<Patch>): Promise<Written>;
  update(target: string | KeyedWrite<Patch>, value?: Patch, options?: WriteOptions): Promise<Written> {
    return this.#write("update", target, options, value);
  }

  /** Deletes an entry, like {@link set}. Deleting an entry that does not exist succeeds. */
  delete(key: string, options?: WriteOptions): Promise<Written>;
  delete(write: KeyedDeletion): Promise<Written>;
  delete(target: string | KeyedDeletion, options?: WriteOptions): Promise<Written> {
    return this.#write("delete", target, options);
  }

  /** Applies 1 to 500 writes: all of them or none. */
  async batch(writes: readonly Write<Input, Patch>[], options: Abortable = {}): Promise<readonly Written[]> {
    options.signal?.throwIfAborted();
    if (writes.length < 1 || writes.length > MAX_BATCH)
      throw invalid("Stores", `writes must be 1 to ${MAX_BATCH}`);
    const fitted = writes.map((write) => fitWrite(this.#shape, write));
    const queued = this.#context.queue.addBatch(this.replica, fitted);
    this.#show(queued);
    return this.#settled(queued, options);
  }

  /** A write that waits is given up when its signal is aborted, and rolled back. */
  #settled(queued: readonly Queued[], options: Abortable): Promise<Written[]> {
    const giveUp = () => this.#context.queue.giveUp(queued.map(({ write }) => write));
    return abortable(Promise.all(queued.map(({ written }) => written)), options, giveUp);
  }

  async #write(
    action: Action,
    target: string | KeyedDeletion,
    options: WriteOptions = {},
    value?: unknown,
  ): Promise<Written> {
    const write = fitWrite(this.#shape, { ...keyedWrite(target, options, value), action });
    write.signal?.throwIfAborted();
    const queued = this.#context.queue.add(this.replica, write);
    this.#show([queued]);
    const [written] = await this.#settled([queued], write);
    return written as Written;
  }

  #show(queued: readonly Queued[]): void {
    const shown = queued.map((each) => this.#shown(each, this.replica.entries.add(each.write)));
    if (this.#context.history.record(this, shown)) this.emit("updated", undefined);
  }

  #shown({ operation, write }: Queued, difference: Difference | null): Shown {
    const { key } = write;
    const value = this.get(key);
    return { operation, write, difference: difference ?? { key, previous: value, value } };
  }

  /** Called by the history: writes, and returns the change. Throws NOT_JOINED. */
  restore(operation: Operation): Shown {
    const queued = this.#context.queue.add(this.replica, operation);
    queued.written.catch(() => {}); // a refusal is a change as well
    return this.#shown(queued, this.replica.show(queued.write, "history"));
  }
}

export type StoresOf<Shapes extends StoreShapes> = {
  readonly [Name in keyof Shapes]: Store<ValueOf<Shapes[Name]>, InputOf<Shapes[Name]>, PatchOf<Shapes[Name]>>;
};

const ACTIONS: readonly unknown[] = ["set", "update", "delete"] satisfies Action[];
const isAction = (value: unknown): value is Action => ACTIONS.includes(value);

export class ClientStores {
  readonly queue: WriteQueue;
  readonly history = new History();
  readonly #context: StoreContext;
  readonly #shapes: StoreShapes;
  readonly #byName = new Map<string, Store>();

  constructor(connection: Connection, shapes: StoreShapes, runtime: Runtime, persistence?: StorePersistence) {
    const { requests } = connection;
    this.queue = new WriteQueue(requests, runtime, persistence);
    const { queue, history } = this;
    this.#context = {
      requests,
      queue,
      history,
      persistence,
      download: async (...load) => {
        const module = await import("../connection/download.ts").catch(() => null);
        return module?.downloadStore(connection, ...load);
      },
      userId: () => connection.userId,
    };
    this.#shapes = shapes;
    connection.changeStream.handle("storeChanged", ({ store, key, action, value, version, by }) => {
      if (typeof store !== "string" || typeof key !== "string" || !isAction(action) || !isCount(version))
        return;
      const change: ChangeNotice = { key, action, value, version, by: typeof by === "string" ? by : null };
      this.#byName.get(store)?.replica.receive(change);
    });
    connection.changeStream.onJoined(({ changes }) => {
      const loading = [...this.#byName.values()].map((store) => store.replica.rejoin(changes === null));
      this.queue.joined();
      return Promise.all(loading);
    });
  }

  get(name: string): Store {
    const shape = Object.hasOwn(this.#shapes, name) ? (this.#shapes[name] ?? null) : null;
    return getOrAdd(this.#byName, name, () => new Store(name, shape, this.#context));
  }

  get opened(): ReadonlyMap<string, Store> {
    return this.#byName;
  }

  declared(): Record<string, Store> {
    const stores: Record<string, Store> = Object.create(null);
    for (const name of Object.keys(this.#shapes)) stores[name] = this.get(name);
    return stores;
  }
}
