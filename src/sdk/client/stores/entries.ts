/** The entries of a store: those that the room has confirmed, and on top the writes that are not answered yet. */
import { isRecord, isSameJson } from "../../core/json.ts";

/** The value of an entry and its version, which no other write has; 0 stands for no entry. */
export interface Entry {
  readonly value: unknown;
  readonly version: number;
}

export type Action = "set" | "update" | "delete";

/** One write: `value` is the whole new value or, for `update`, the fields to merge. */
export interface Operation {
  readonly action: Action;
  readonly key: string;
  readonly value: unknown;
}

/** How the visible value of a key has changed; undefined stands for no entry. */
export interface Difference {
  readonly key: string;
  readonly previous: unknown;
  readonly value: unknown;
}

/** The writes of a key that are not answered yet, in the order in which they were made. */
interface Pending {
  readonly writes: Operation[];
  /** What they leave of the confirmed value. */
  readonly value: unknown;
}

const NO_ENTRY: Entry = { value: undefined, version: 0 };

export class Entries {
  /** Those that the room has confirmed, and {@link NO_ENTRY} for other keys that were written. */
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Pending>();
  #all: Readonly<Record<string, unknown>> | null = null;

  get(key: string): unknown {
    return (this.#pending.get(key) ?? this.#entries.get(key))?.value;
  }

  /** The confirmed entry; of version 0 if there is none. */
  getConfirmed(key: string): Entry {
    return this.#entries.get(key) ?? NO_ENTRY;
  }

  /** All values by key: the same object until one changes. It has no prototype, so that any key is safe. */
  getAll(): Readonly<Record<string, unknown>> {
    if (this.#all === null) {
      const all: Record<string, unknown> = Object.create(null);
      for (const key of this.#entries.keys()) {
        const value = this.get(key);
        if (value !== undefined) all[key] = value;
      }
      this.#all = all;
    }
    return this.#all;
  }

  /** The writes that are not answered yet. */
  get pending(): Operation[] {
    return [...this.#pending.values()].flatMap(({ writes }) => writes);
  }

  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** The keys of all entries that the room has confirmed. */
  get confirmed(): string[] {
    return [...this.#entries.keys()].filter((key) => this.getConfirmed(key).version > 0);
  }

  /** Shows a write before it is answered, or one that has changed since, above or below the others. */
  add(write: Operation, isFirst = false): Difference | null {
    const others = this.#othersThan(write);
    return this.#update(write.key, isFirst ? [write, ...others] : [...others, write]);
  }

  /** Removes a write that is answered, or that failed. */
  remove(write: Operation): Difference | null {
    return this.#update(write.key, this.#othersThan(write));
  }

  #othersThan(write: Operation): Operation[] {
    return this.#writesOf(write.key).filter((other) => other !== write);
  }

  /** Sets the room's entry; null if there is none. */
  confirm(key: string, entry: Entry | null): Difference | null {
    const value = entry?.value;
    // A store that is opened has many entries, all new.
    if (entry && value !== undefined && this.#pending.size === 0 && !this.#entries.has(key)) {
      this.#entries.set(key, entry);
      this.#all = null;
      return { key, previous: undefined, value };
    }
    return this.#update(key, this.#writesOf(key), entry ?? NO_ENTRY);
  }

  #writesOf(key: string): Operation[] {
    return this.#pending.get(key)?.writes ?? [];
  }

  #update(key: string, writes: Operation[], entry = this.getConfirmed(key)): Difference | null {
    const previous = this.get(key);
    const result = writes.reduce(applyTo, entry.value);
    const isSame = result === previous || (previous !== undefined && isSameJson(result, previous));
    // An equal value stays the same object, so that components do not render again.
    const value = isSame ? previous : result;
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

/** The value after a write; undefined for no entry. */
function applyTo(current: unknown, { action, value }: Operation): unknown {
  if (action === "delete") return undefined;
  if (action === "set") return value;
  if (current === undefined) return value;
  return isRecord(current) && isRecord(value) ? { ...current, ...value } : current;
}
