/** One of a room's key-value stores: read at once from memory, written optimistically, the same for everybody. */
import { Emitter } from "../../core/emitter.ts";
import { isRecord } from "../../core/json.ts";
import { type Data, isCount, recordOf } from "../connection/frames.ts";
import type { Requests } from "../connection/requests.ts";
import { type Action, Entries, type Entry, type Operation } from "./entries.ts";
import type { StoreShape } from "./shapes.ts";
import {
  dataOf,
  fitWrite,
  MESSAGES,
  readAllWritten,
  readWritten,
  type Write,
  type WriteOptions,
  type Written,
} from "./writes.ts";

/** A change by somebody else, or by oneself in another tab. */
export interface StoreChange<Value> {
  readonly key: string;
  readonly action: Action;
  /** The whole new value; null after a deletion. */
  readonly value: Value | null;
  /** Who made it; null for the organization. */
  readonly userId: string | null;
}

export interface StoreEvents<Value> {
  changed: StoreChange<Value>;
  /** What `getAll()` gives has changed, whoever did it: also when a refused write is taken back. */
  updated: undefined;
}

/** A change of this store as the room tells it. */
export interface ChangeNotice extends Operation {
  readonly version: number;
  readonly by: string | null;
}

/**
 * `Value` is what an entry holds, `Input` what `set` takes, `Patch` what `update` merges into the top level.
 * Values are only as well-formed as those who write them: with shapes, what this client sends is checked.
 */
export class Store<Value = unknown, Input = Value, Patch = Record<string, unknown>> extends Emitter<
  StoreEvents<Value>
> {
  readonly name: string;
  readonly #requests: Requests;
  readonly #shape: StoreShape | null;
  readonly #userId: string;
  readonly #entries = new Entries();
  /** `stale` when changes may have been missed since. */
  #synced: "never" | "stale" | "yes" = "never";
  #syncing: Promise<void> | null = null;

  constructor(name: string, shape: StoreShape | null, requests: Requests, userId: string) {
    super();
    this.name = name;
    this.#shape = shape;
    this.#requests = requests;
    this.#userId = userId;
  }

  /** Fetches all entries, once; from then on they are kept up to date, through reconnections too. */
  sync(): Promise<void> {
    if (this.#synced === "yes") return Promise.resolve();
    this.#syncing ??= this.#load(true).finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  /** All values by key as they are now: the same object until something changes. It has no prototype. */
  getAll(): Readonly<Record<string, Value>> {
    return this.#trust(this.#entries.getAll());
  }

  /** The value, or undefined when there is none. */
  get(key: string): Value | undefined {
    return this.#trust(this.#entries.get(key));
  }

  /** The version for `ifVersion`: that of the entry as the room has it, 0 when it has none. */
  getVersion(key: string): number {
    return this.#entries.getVersion(key);
  }

  /** Writes a whole value. It shows at once, and is taken back when the promise is rejected. */
  set(key: string, value: Input, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ action: "set", key, value, ...options });
  }

  /** Merges fields into the top level of a value, likewise. CONFLICT when what is there is no object. */
  update(key: string, value: Patch, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ action: "update", key, value, ...options });
  }

  /** Deletes an entry, likewise. Deleting what is not there is a success. */
  delete(key: string, options: WriteOptions = {}): Promise<Written> {
    return this.#write({ action: "delete", key, ...options });
  }

  /** Does 1 to 500 writes, all of them or none. */
  async batch(writes: readonly Write<Input, Patch>[]): Promise<readonly Written[]> {
    const fitted = writes.map((write) => fitWrite(this.#shape, write));
    const operations = fitted.map((write) => ({ type: MESSAGES[write.action], ...dataOf(this.name, write) }));
    return this.#ask("STORE_BATCH", { operations }, fitted, readAllWritten);
  }

  async #write(write: Write<Input, Patch>): Promise<Written> {
    const fitted = fitWrite(this.#shape, write);
    return this.#ask(MESSAGES[fitted.action], dataOf(this.name, fitted), [fitted], readWritten);
  }

  #ask<Result>(
    type: string,
    data: object,
    operations: readonly Operation[],
    take: (answer: Data) => Result,
  ): Promise<Result> {
    let lift = () => {};
    return this.#requests.ask(type, data, {
      take,
      begin: () =>
        this.#alter(() => {
          lift = this.#entries.lay(operations);
        }),
      end: () => this.#alter(lift),
    });
  }

  #alter(change: () => void): void {
    const before = this.#entries.revision;
    change();
    if (this.#entries.revision !== before) this.emit("updated", undefined);
  }

  #load(resend: boolean): Promise<void> {
    const take = ({ entries }: Data) => {
      this.#synced = "yes";
      this.#alter(() => this.#entries.replace(recordOf(entries, isEntry)));
    };
    return this.#requests.ask("STORE_SYNC", { store: this.name }, { resend, take });
  }

  /** The room was joined again; with `isFresh`, what was missed is not known. */
  reenter(isFresh: boolean): Promise<void> | undefined {
    if (isFresh && this.#synced === "never") this.#alter(() => this.#entries.replace({}));
    if (isFresh && this.#synced === "yes") this.#synced = "stale";
    return this.#synced === "stale" ? this.#load(false) : undefined;
  }

  /** The room tells of a change, in the order in which they were made. */
  receive(change: ChangeNotice): void {
    const { key, action, value, version, by } = change;
    const isOwn = by === this.#userId && this.#entries.claim(change);
    this.#alter(() => this.#entries.confirm(key, action === "delete" ? null : { value, version }));
    if (!isOwn) this.emit("changed", { key, action, value: this.#trust(value), userId: by });
  }

  /** What others wrote is taken for what the shape promises: refusing it here would only part us from them. */
  #trust<Trusted>(value: unknown): Trusted {
    return value as Trusted;
  }
}

const isEntry = (entry: unknown): entry is Entry =>
  isRecord(entry) && isCount(entry.version) && "value" in entry;
