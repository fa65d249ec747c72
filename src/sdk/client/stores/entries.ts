/** A store's entries as they are known: what the room has confirmed, and above it the writes without an answer. */
import { isRecord, isSameJson } from "../../core/json.ts";

/** An entry's value and version; no version comes twice, and 0 stands for no entry. */
export interface Entry {
  readonly value: unknown;
  readonly version: number;
}

export type Action = "set" | "update" | "delete";

/** One write: `value` is the whole new one, or for `update` the fields to merge into it. */
export interface Operation {
  readonly action: Action;
  readonly key: string;
  readonly value: unknown;
}

/** An operation that is unanswered; `isTold` once the change that it makes was told. */
interface Layer extends Operation {
  isTold: boolean;
}

export class Entries {
  #confirmed = new Map<string, Entry>();
  /** By key, in the order in which they were written. */
  readonly #layers = new Map<string, Layer[]>();
  /** What both come to. */
  readonly #shown = new Map<string, unknown>();
  #all: Readonly<Record<string, unknown>> | null = null;
  #revision = 0;

  /** Grows with each change of what is shown. */
  get revision(): number {
    return this.#revision;
  }

  get(key: string): unknown {
    return this.#shown.get(key);
  }

  /** The version of the confirmed entry. */
  getVersion(key: string): number {
    return this.#confirmed.get(key)?.version ?? 0;
  }

  /** All values by key: the same object until one changes. It has no prototype, so that any key is safe. */
  getAll(): Readonly<Record<string, unknown>> {
    if (this.#all === null) {
      const all: Record<string, unknown> = Object.create(null);
      for (const [key, value] of this.#shown) all[key] = value;
      this.#all = all;
    }
    return this.#all;
  }

  /** Shows operations before they are answered. Returns the function that ends that. */
  lay(operations: readonly Operation[]): () => void {
    const layers = operations.map((operation): Layer => ({ ...operation, isTold: false }));
    for (const layer of layers) {
      this.#layers.set(layer.key, [...(this.#layers.get(layer.key) ?? []), layer]);
      this.#show(layer.key);
    }
    return () => {
      for (const layer of layers) this.#lift(layer);
    };
  }

  #lift(layer: Layer): void {
    const others = (this.#layers.get(layer.key) ?? []).filter((other) => other !== layer);
    if (others.length > 0) this.#layers.set(layer.key, others);
    else this.#layers.delete(layer.key);
    this.#show(layer.key);
  }

  /** The room's entry is now this one, or gone with null. */
  confirm(key: string, entry: Entry | null): void {
    if (entry === null) this.#confirmed.delete(key);
    else this.#confirmed.set(key, entry);
    this.#show(key);
  }

  /** The room's entries are now these, and no others. */
  replace(entries: Readonly<Record<string, Entry>>): void {
    this.#confirmed = new Map(Object.entries(entries));
    for (const key of new Set([...this.#shown.keys(), ...this.#confirmed.keys()])) this.#show(key);
  }

  /** Whether a change by one's own user was made here, and not in another tab. True once for each operation. */
  claim({ action, key, value }: Operation): boolean {
    const layer = this.#layers
      .get(key)
      ?.find((each) => !each.isTold && each.action === action && isResult(each, value));
    if (layer === undefined) return false;
    layer.isTold = true;
    return true;
  }

  #show(key: string): void {
    const before = this.#shown.get(key);
    const layers = this.#layers.get(key) ?? [];
    const after = layers.reduce(applyTo, this.#confirmed.get(key)?.value);
    // What says the same stays the same object, so that nobody draws it again.
    if (after === before || (before !== undefined && isSameJson(after, before))) return;
    if (after === undefined) this.#shown.delete(key);
    else this.#shown.set(key, after);
    this.#all = null;
    this.#revision += 1;
  }
}

/** The value that an operation leaves; undefined for none. */
function applyTo(current: unknown, { action, value }: Operation): unknown {
  if (action === "delete") return undefined;
  if (action === "set") return value;
  if (current === undefined) return value;
  return isRecord(current) && isRecord(value) ? { ...current, ...value } : current;
}

/** Whether `told` can be the value that the operation has left. */
const isResult = ({ action, value }: Operation, told: unknown): boolean =>
  action === "delete" ||
  isSameJson(action === "update" ? applyTo(told, { action, key: "", value }) : value, told);
