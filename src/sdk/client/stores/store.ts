/** A key-value store of the room: read from memory, written optimistically, in sync for everyone. */
import { Emitter } from "../../core/emitter.ts";
import { isRecord } from "../../core/json.ts";
import { type Data, isCount, recordOf } from "../connection/frames.ts";
import type { Requests } from "../connection/requests.ts";
import { type Action, Entries, type Entry, type Operation } from "./entries.ts";
import type { StoreShape } from "./shapes.ts";
import {
  dataOf,
  fitWrite,
  type KeyedDeletion,
  type KeyedWrite,
  keyedWrite,
  MESSAGES,
  readAllWritten,
  readWritten,
  type Write,
  type WriteOptions,
  type Written,
} from "./writes.ts";

/** A change by another user, or by yourself in another tab. */
export interface StoreChange<Value> {
  readonly key: string;
  readonly action: Action;
  /** The whole new value; null after a deletion. */
  readonly value: Value | null;
  /** The user who made the change; null for your back end. */
  readonly userId: string | null;
}

export interface StoreEvents<Value> {
  changed: StoreChange<Value>;
  /** `getAll()` returns something new, also because a write of your own was refused and rolled back. */
  updated: undefined;
}

/** A change of this store as the room sends it. */
export interface ChangeNotice extends Operation {
  readonly version: number;
  readonly by: string | null;
}

/**
 * `Value` is the type of an entry, `Input` what `set` accepts, `Patch` what `update` merges into the top level.
 * A shape checks the values that this client writes; other clients can write anything.
 */
export class Store<Value = unknown, Input = Value, Patch = Record<string, unknown>> extends Emitter<
  StoreEvents<Value>
> {
  readonly name: string;
  readonly #requests: Requests;
  readonly #shape: StoreShape | null;
  readonly #userId: string;
  readonly #entries = new Entries();
  /** `stale` if changes may have been missed. */
  #synced: "never" | "stale" | "yes" = "never";
  #syncing: Promise<void> | null = null;

  constructor(name: string, shape: StoreShape | null, requests: Requests, userId: string) {
    super();
    this.name = name;
    this.#shape = shape;
    this.#requests = requests;
    this.#userId = userId;
  }

  /** Loads all entries once. From then on they are kept up to date, also across reconnections. */
  sync(): Promise<void> {
    if (this.#synced === "yes") return Promise.resolve();
    this.#syncing ??= this.#load(true).finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
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
    const fitted = writes.map((write) => fitWrite(this.#shape, write));
    const operations = fitted.map((write) => ({ type: MESSAGES[write.action], ...dataOf(this.name, write) }));
    return this.#send("STORE_BATCH", { operations }, fitted, readAllWritten);
  }

  async #write(write: Write<unknown, unknown>): Promise<Written> {
    const fitted = fitWrite(this.#shape, write);
    return this.#send(MESSAGES[fitted.action], dataOf(this.name, fitted), [fitted], readWritten);
  }

  #send<Result>(
    type: string,
    data: object,
    operations: readonly Operation[],
    read: (data: Data) => Result,
  ): Promise<Result> {
    let rollBack = () => {};
    return this.#requests.send(type, data, {
      read,
      onStart: () =>
        this.#alter(() => {
          rollBack = this.#entries.applyOptimistically(operations);
        }),
      onEnd: () => this.#alter(rollBack),
    });
  }

  #alter(change: () => void): void {
    const before = this.#entries.revision;
    change();
    if (this.#entries.revision !== before) this.emit("updated", undefined);
  }

  #load(resend: boolean): Promise<void> {
    const read = ({ entries }: Data) => {
      this.#synced = "yes";
      this.#alter(() => this.#entries.replace(recordOf(entries, isEntry)));
    };
    return this.#requests.send("STORE_SYNC", { store: this.name }, { resend, read });
  }

  /** The room was joined again; with `isFresh`, missed changes are not known. */
  rejoin(isFresh: boolean): Promise<void> | undefined {
    if (isFresh && this.#synced === "never") this.#alter(() => this.#entries.replace({}));
    if (isFresh && this.#synced === "yes") this.#synced = "stale";
    return this.#synced === "stale" ? this.#load(false) : undefined;
  }

  /** Takes in a change of the room. Changes arrive in order. */
  receive(change: ChangeNotice): void {
    const { key, action, value, version, by } = change;
    const isOwn = by === this.#userId && this.#entries.claim(change);
    this.#alter(() => this.#entries.confirm(key, action === "delete" ? null : { value, version }));
    if (!isOwn) this.emit("changed", { key, action, value: this.#assumeType(value), userId: by });
  }

  /** Values of other clients are assumed to fit the shape: ignoring them would only make the copies differ. */
  #assumeType<Trusted>(value: unknown): Trusted {
    return value as Trusted;
  }
}

const isEntry = (entry: unknown): entry is Entry =>
  isRecord(entry) && isCount(entry.version) && "value" in entry;
