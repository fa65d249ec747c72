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

export class Entries {
  readonly #confirmed = new Map<string, Entry>();
  /** By key, in the order in which they were made. */
  readonly #pending = new Map<string, Operation[]>();
  /** The result of both. */
  readonly #visible = new Map<string, unknown>();
  #all: Readonly<Record<string, unknown>> | null = null;

  get(key: string): unknown {
    return this.#visible.get(key);
  }

  /** The version of the confirmed entry. */
  getVersion(key: string): number {
    return this.#confirmed.get(key)?.version ?? 0;
  }

  /** All values by key: the same object until one changes. It has no prototype, so that any key is safe. */
  getAll(): Readonly<Record<string, unknown>> {
    if (this.#all === null) {
      const all: Record<string, unknown> = Object.create(null);
      for (const [key, value] of this.#visible) all[key] = value;
      this.#all = all;
    }
    return this.#all;
  }

  /** The writes that are not answered yet. */
  get pending(): Operation[] {
    return [...this.#pending.values()].flat();
  }

  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** All entries that the room has confirmed, by key. */
  get confirmed(): ReadonlyMap<string, Entry> {
    return this.#confirmed;
  }

  /** Shows a write before it is answered, above or below the others, or a shown one that has changed since. */
  add(write: Operation, isFirst = false): Difference | null {
    const writes = this.#pending.get(write.key) ?? [];
    if (!writes.includes(write)) writes.splice(isFirst ? 0 : writes.length, 0, write);
    this.#pending.set(write.key, writes);
    return this.#update(write.key);
  }

  /** Removes a write that is answered, or that failed. */
  remove(write: Operation): Difference | null {
    const others = (this.#pending.get(write.key) ?? []).filter((other) => other !== write);
    if (others.length > 0) this.#pending.set(write.key, others);
    else this.#pending.delete(write.key);
    return this.#update(write.key);
  }

  /** Sets the room's entry; null if there is none. */
  confirm(key: string, entry: Entry | null): Difference | null {
    if (entry === null) this.#confirmed.delete(key);
    else this.#confirmed.set(key, entry);
    return this.#update(key);
  }

  #update(key: string): Difference | null {
    const previous = this.#visible.get(key);
    const confirmed = this.#confirmed.get(key)?.value;
    const writes = this.#pending.get(key);
    const value = writes === undefined ? confirmed : writes.reduce(applyTo, confirmed);
    // An equal value stays the same object, so that components do not render again.
    if (value === previous || (previous !== undefined && isSameJson(value, previous))) return null;
    if (value === undefined) this.#visible.delete(key);
    else this.#visible.set(key, value);
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
