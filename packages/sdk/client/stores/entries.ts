/** The entries of a store: confirmed ones, and on top the writes without an answer. */
import { type Frozen, frozen, isRecord, isSameJson } from "../../core/json.ts";

/** Each write has a version of its own; 0 stands for no entry. */
export interface Entry {
  readonly value: unknown;
  readonly version: number;
}

export type Action = "set" | "update" | "delete";

export interface Operation {
  readonly action: Action;
  readonly key: string;
  readonly value: unknown;
}

/** A change of the visible value of a key; undefined stands for no entry. */
export interface Difference {
  readonly key: string;
  readonly previous: unknown;
  readonly value: unknown;
}

/** Writes of a key without an answer, oldest first, and their result. */
interface Pending {
  readonly writes: Operation[];
  readonly value: unknown;
}

const NO_ENTRY: Entry = { value: undefined, version: 0 };

export class Entries {
  /** Confirmed entries, and {@link NO_ENTRY} for other written keys. */
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Pending>();
  #all: Readonly<Record<string, unknown>> | null = null;

  get(key: string): unknown {
    return (this.#pending.get(key) ?? this.#entries.get(key))?.value;
  }

  getConfirmed(key: string): Entry {
    return this.#entries.get(key) ?? NO_ENTRY;
  }

  /** All values by key: the same object until one changes. Has no prototype, so that any key is safe. */
  getAll(): Readonly<Record<string, unknown>> {
    if (this.#all === null) {
      const all: Record<string, unknown> = Object.create(null);
      for (const key of this.#entries.keys()) {
        const value = this.get(key);
        if (value !== undefined) all[key] = value;
      }
      this.#all = Object.freeze(all);
    }
    return this.#all;
  }

  get pending(): Operation[] {
    return [...this.#pending.values()].flatMap(({ writes }) => writes);
  }

  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  get confirmed(): string[] {
    return [...this.#entries.keys()].filter((key) => this.getConfirmed(key).version > 0);
  }

  /** Shows a write, or a change of it, above or below the others. */
  add(write: Operation, isFirst = false): Difference | null {
    const others = this.#othersThan(write);
    return this.#update(write.key, isFirst ? [write, ...others] : [...others, write]);
  }

  remove(write: Operation): Difference | null {
    return this.#update(write.key, this.#othersThan(write));
  }

  #othersThan(write: Operation): Operation[] {
    return this.writesOf(write.key).filter((other) => other !== write);
  }

  confirm(key: string, entry: Entry | null): Difference | null {
    const value = frozen(entry?.value);
    // The fast path of opening a store: all entries are new.
    if (entry && value !== undefined && this.#pending.size === 0 && !this.#entries.has(key)) {
      this.#entries.set(key, entry);
      this.#all = null;
      return { key, previous: undefined, value };
    }
    return this.#update(key, this.writesOf(key), entry ?? NO_ENTRY);
  }

  writesOf(key: string): Operation[] {
    return this.#pending.get(key)?.writes ?? [];
  }

  #update(key: string, writes: Operation[], entry = this.getConfirmed(key)): Difference | null {
    const previous = this.get(key);
    const result = writes.reduce(applyTo, entry.value);
    const isSame = result === previous || (previous !== undefined && isSameJson(result, previous));
    // An equal value stays the same object, so that components do not render.
    const value = isSame ? previous : frozen(result);
    const isPending = writes.length > 0;
    if (isPending) this.#pending.set(key, { writes, value });
    else this.#pending.delete(key);
    // A key that is only pending has its place among the others.
    if (isPending || value !== undefined)
      this.#entries.set(key, isPending || !isSame ? entry : { ...entry, value });
    else this.#entries.delete(key);
    if (isSame) return null;
    this.#all = null;
    return { key, previous, value };
  }
}

export function applyTo(current: unknown, { action, value }: Operation): unknown {
  if (action === "delete") return undefined;
  if (action === "set") return value;
  if (current === undefined) return value;
  return isRecord(current) && isRecord(value) ? { ...current, ...value } : current;
}

/**
 * Why a value changed without a call of yours at that moment:
 * - `remote`: a write of another user, of your back end, or of your own in another tab.
 * - `reverted`: a write of yours was refused or discarded.
 * - `resynced`: the store was loaded, or loaded again after changes were missed, or is as it was kept on the device.
 * - `history`: you have undone or redone it.
 */
export type ChangeReason = "remote" | "reverted" | "resynced" | "history";

/** The visible value of a key has changed for any reason but your own call at that moment. */
export interface StoreChange<Value> {
  readonly key: string;
  /** The action on the entry; `set` or `delete` unless the reason is `remote`. */
  readonly action: Action;
  /** The value before; undefined if there was none. */
  readonly previous: Frozen<Value> | undefined;
  /** The whole new value; undefined if there is none. */
  readonly value: Frozen<Value> | undefined;
  /** The user whose write it is, yourself for `reverted`, `history` and kept writes; null for your back end, and `resynced`. */
  readonly userId: string | null;
  readonly reason: ChangeReason;
}

export interface StoreEvents<Value> {
  /** Applied in order on top of your own calls, these changes keep a copy equal to `getAll()`. */
  changed: StoreChange<Value>;
  /** `getAll()` returns something new, for whatever reason. */
  updated: undefined;
}

export interface Cause {
  readonly reason: ChangeReason;
  readonly userId: string | null;
  readonly action?: Action;
}

export const RESYNCED: Cause = { reason: "resynced", userId: null };

export function describeChange(difference: Difference, { action, ...cause }: Cause): StoreChange<unknown> {
  const isGone = difference.value === undefined;
  // A deletion below an own write leaves a value; a refused write can leave none.
  const isPlain = action === undefined || (action === "delete") !== isGone;
  return { ...difference, ...cause, action: isPlain ? (isGone ? "delete" : "set") : action };
}
