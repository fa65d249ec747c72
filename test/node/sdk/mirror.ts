/** A copy of a store as an application keeps one: by its own calls, and by `changed`. */
import type { Store, StoreChange, WriteOptions, Written } from "atrium/client";
import { isRecord } from "../../../packages/sdk/core/json.ts";

export class Mirror {
  readonly store: Store;
  readonly values = new Map<string, unknown>();
  readonly changes: StoreChange<unknown>[] = [];
  /** Changes whose `previous` is not the value before, or that change nothing. */
  readonly wrong: StoreChange<unknown>[] = [];

  constructor(store: Store) {
    this.store = store;
    store.on("changed", (change) => this.#apply(change));
  }

  #apply(change: StoreChange<unknown>): void {
    const { key, previous, value } = change;
    this.changes.push(change);
    if (!isSame(previous, this.values.get(key)) || isSame(value, previous)) this.wrong.push(change);
    this.#show(key, value);
  }

  #show(key: string, value: unknown): void {
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, value);
  }

  set(key: string, value: unknown, options: WriteOptions = {}): Promise<Written> {
    const written = this.store.set(key, value, options);
    this.#show(key, value);
    return written;
  }

  update(key: string, value: Record<string, unknown>, options: WriteOptions = {}): Promise<Written> {
    const written = this.store.update(key, value, options);
    const shown = this.values.get(key);
    if (shown === undefined || isRecord(shown)) this.#show(key, { ...shown, ...value });
    return written;
  }

  delete(key: string, options: WriteOptions = {}): Promise<Written> {
    const written = this.store.delete(key, options);
    this.#show(key, undefined);
    return written;
  }

  /** Sets several values in one batch. */
  setAll(entries: readonly (readonly [string, unknown])[]): Promise<readonly Written[]> {
    const written = this.store.batch(entries.map(([key, value]) => ({ action: "set", key, value })));
    for (const [key, value] of entries) this.#show(key, value);
    return written;
  }

  /** Whether the copy equals the store, and no change was wrong. */
  get isTrue(): boolean {
    const shown = Object.entries(this.store.getAll());
    const isCopied = ([key, value]: readonly [string, unknown]) => isSame(value, this.values.get(key));
    return this.wrong.length === 0 && shown.length === this.values.size && shown.every(isCopied);
  }
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** The entries sorted by key, so that their order does not matter. */
export const sorted = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
