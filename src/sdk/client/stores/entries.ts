/** The entries of a store: those that the room has confirmed, and on top the optimistic writes. */
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

/** A write without a response yet. */
interface PendingWrite extends Operation {
  /** Whether the change that it makes was received. */
  isReceived: boolean;
}

export class Entries {
  #confirmed = new Map<string, Entry>();
  /** By key, in the order in which they were made. */
  readonly #pending = new Map<string, PendingWrite[]>();
  /** The result of both. */
  readonly #visible = new Map<string, unknown>();
  #all: Readonly<Record<string, unknown>> | null = null;
  #revision = 0;

  /** Increases whenever a visible value changes. */
  get revision(): number {
    return this.#revision;
  }

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

  /** Makes writes visible before they are answered. Returns a function that takes them back. */
  applyOptimistically(operations: readonly Operation[]): () => void {
    const writes = operations.map((operation): PendingWrite => ({ ...operation, isReceived: false }));
    for (const write of writes) {
      this.#pending.set(write.key, [...(this.#pending.get(write.key) ?? []), write]);
      this.#update(write.key);
    }
    return () => {
      for (const write of writes) this.#remove(write);
    };
  }

  #remove(write: PendingWrite): void {
    const others = (this.#pending.get(write.key) ?? []).filter((other) => other !== write);
    if (others.length > 0) this.#pending.set(write.key, others);
    else this.#pending.delete(write.key);
    this.#update(write.key);
  }

  /** Sets the room's entry; null if it was deleted. */
  confirm(key: string, entry: Entry | null): void {
    if (entry === null) this.#confirmed.delete(key);
    else this.#confirmed.set(key, entry);
    this.#update(key);
  }

  /** Replaces all of the room's entries. */
  replace(entries: Readonly<Record<string, Entry>>): void {
    this.#confirmed = new Map(Object.entries(entries));
    for (const key of new Set([...this.#visible.keys(), ...this.#confirmed.keys()])) this.#update(key);
  }

  /** Whether a change by your own user was made here, not in another tab. True once for each write. */
  claim({ action, key, value }: Operation): boolean {
    const write = this.#pending
      .get(key)
      ?.find((each) => !each.isReceived && each.action === action && isResult(each, value));
    if (write === undefined) return false;
    write.isReceived = true;
    return true;
  }

  #update(key: string): void {
    const before = this.#visible.get(key);
    const writes = this.#pending.get(key) ?? [];
    const after = writes.reduce(applyTo, this.#confirmed.get(key)?.value);
    // An equal value stays the same object, so that components do not render again.
    if (after === before || (before !== undefined && isSameJson(after, before))) return;
    if (after === undefined) this.#visible.delete(key);
    else this.#visible.set(key, after);
    this.#all = null;
    this.#revision += 1;
  }
}

/** The value after a write; undefined for no entry. */
function applyTo(current: unknown, { action, value }: Operation): unknown {
  if (action === "delete") return undefined;
  if (action === "set") return value;
  if (current === undefined) return value;
  return isRecord(current) && isRecord(value) ? { ...current, ...value } : current;
}

/** Whether `received` can be the value after the write. */
const isResult = ({ action, value }: Operation, received: unknown): boolean =>
  action === "delete" ||
  isSameJson(action === "update" ? applyTo(received, { action, key: "", value }) : value, received);
