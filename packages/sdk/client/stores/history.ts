/** `client.history`: undoes and redoes the user's own changes of stores, and never later changes of others. */
import { Emitter, getOrAdd } from "../../core/emitter.ts";
import { isRecord, isSameJson } from "../../core/json.ts";
import { applyTo, type Difference, type Operation } from "./entries.ts";
import { mergeOperations } from "./waiting-writes.ts";

const MAX_STEPS = 200;

/** An operation, the queued write that has it, and its change: none if both values are the same object. */
export interface Shown {
  readonly operation: Operation;
  readonly write: Operation;
  readonly difference: Difference;
}

export interface Restorable {
  get(key: string): unknown;
  restore(operation: Operation): Shown;
}

interface Change {
  readonly store: Restorable;
  step: Step;
  operation: Operation;
  /** Null once the service has accepted it. */
  write: Operation | null;
  difference: Difference;
}

/** Changes, oldest first; none without an effect. Empty once all of them were refused. */
type Step = Set<Change>;

export interface HistoryState {
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

export interface HistoryEvents {
  changed: HistoryState;
}

export class History extends Emitter<HistoryEvents> {
  readonly #done: Step[] = [];
  readonly #undone: Step[] = [];
  /** All changes of each write without an answer, oldest first. */
  readonly #unanswered = new WeakMap<Operation, Step>();
  #isPaused = false;
  #open: Step | null = null;
  #state: HistoryState = { canUndo: false, canRedo: false };

  /** Whether there are changes of yours to undo. Others may have changed all of it since. */
  get canUndo(): boolean {
    return this.#state.canUndo;
  }

  get canRedo(): boolean {
    return this.#state.canRedo;
  }

  /** Takes back your latest step, where it is still visible. False if others have changed all of it since. Throws NOT_JOINED. */
  undo(): boolean {
    return this.#move(this.#done, this.#undone);
  }

  /** Makes the step that was undone last again, by the same rule as {@link undo}. */
  redo(): boolean {
    return this.#move(this.#undone, this.#done);
  }

  /** Makes everything that is written until {@link resume} one step, such as a stroke or a drag. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#open = null;
  }

  /** Makes everything that `action` writes before it returns one step, and returns its result. */
  transaction<Result>(action: () => Result): Result {
    if (this.#isPaused) return action();
    this.pause();
    try {
      return action();
    } finally {
      this.resume();
    }
  }

  clear(): void {
    this.#done.length = 0;
    this.#undone.length = 0;
    this.#open = null;
    this.#report();
  }

  /** Records shown operations. Returns whether it has changed anything. */
  record(store: Restorable, shown: readonly Shown[]): boolean {
    const step = this.#open ?? new Set();
    for (const each of shown) this.#add(step, store, each);
    if (!shown.some(isEffective)) return false;
    this.#undone.length = 0;
    if (this.#isPaused) this.#open = step;
    if (!this.#done.includes(step)) this.#done.push(step);
    if (this.#done.length > MAX_STEPS) for (const change of this.#done.shift() ?? []) this.#forget(change);
    this.#report();
    return true;
  }

  #add(step: Step, store: Restorable, shown: Shown): void {
    const change: Change = { store, step, ...shown };
    getOrAdd(this.#unanswered, shown.write, (): Step => new Set()).add(change);
    if (isEffective(change)) step.add(change);
    this.#join(change);
  }

  /** Merges a change into the step's one before, in the same write or both accepted: a drag is one change. */
  #join(change: Change): void {
    const { step, store, write, difference } = change;
    const { key, previous, value } = difference;
    let earlier: Change | undefined;
    for (const each of step)
      if (each !== change && each.write === write && each.store === store && each.difference.key === key)
        earlier = each;
    if (earlier === undefined || earlier.difference.value !== previous) return;
    this.#forget(earlier);
    step.delete(earlier);
    change.operation = mergeOperations(earlier.operation, change.operation) ?? change.operation;
    change.difference = { key, previous: earlier.difference.previous, value };
    if (isEffective(change)) step.add(change);
  }

  #forget(change: Change): void {
    if (change.write !== null) this.#unanswered.get(change.write)?.delete(change);
  }

  accepted(write: Operation): void {
    for (const change of this.#unanswered.get(write) ?? []) {
      change.write = null;
      this.#join(change);
    }
  }

  /** Recomputes the changes of a key as if the refused write had not been made. `pending` are the writes of the key. */
  refused(write: Operation, pending: readonly Operation[]): void {
    let lost: Difference | null = null;
    for (const other of pending)
      for (const change of this.#unanswered.get(other) ?? []) {
        if (lost === null && other !== write) continue;
        const { key, previous, value } = change.difference;
        const before: unknown = lost === null ? previous : takeBack(lost, previous);
        const after: unknown = other === write ? before : applyTo(before, change.operation);
        lost = { key, previous: after, value };
        change.difference = { key, previous: before, value: isSame(before, after) ? before : after };
        // An undo that is on its way may have brought the refused value back.
        if (!isEffective(change) || this.#undone.includes(change.step)) change.step.delete(change);
      }
    this.#report();
  }

  #move(from: Step[], to: Step[]): boolean {
    this.#open = null;
    while (from.at(-1)?.size === 0) from.pop();
    const restored: Step = new Set();
    for (const { store, difference } of [...(from.at(-1) ?? [])].reverse()) {
      const operation = planRestore(difference, store.get(difference.key));
      if (operation !== null) this.#add(restored, store, store.restore(operation));
    }
    from.pop();
    if (restored.size > 0) to.push(restored);
    this.#report();
    return restored.size > 0;
  }

  #report(): void {
    const state = { canUndo: this.#done.some(isFilled), canRedo: this.#undone.some(isFilled) };
    if (isSameJson(state, this.#state)) return;
    this.#state = state;
    this.emit("changed", state);
  }
}

const isFilled = ({ size }: Step): boolean => size > 0;

const isEffective = ({ difference }: Shown | Change): boolean => difference.previous !== difference.value;

/** The value without a change, where that is still visible. */
function takeBack(change: Difference, current: unknown): unknown {
  if (current === change.value) return change.previous;
  const operation = planRestore(change, current);
  return operation === null ? current : applyTo(current, operation);
}

const fieldOf = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const pick = (record: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

const differingFields = (a: Record<string, unknown>, b: Record<string, unknown>): string[] =>
  Object.keys({ ...a, ...b }).filter((name) => !isSameJson(fieldOf(a, name), fieldOf(b, name)));

const isSame = (a: unknown, b: unknown): boolean =>
  isRecord(a) && isRecord(b) ? differingFields(a, b).length === 0 : isSameJson(a, b);

/** The write that reverts the visible rest of a change, field by field in objects; null if nothing is visible. */
function planRestore({ key, previous, value }: Difference, current: unknown): Operation | null {
  if (isRecord(previous) && isRecord(value) && isRecord(current)) {
    const lost = differingFields(current, value);
    const names = differingFields(previous, value).filter((name) => !lost.includes(name));
    return restoreFields(key, names, previous, current);
  }
  if (!isSame(current, value)) return null;
  return previous === undefined
    ? { action: "delete", key, value: null }
    : { action: "set", key, value: previous };
}

/** Merging restores fields; a field that was not there is removed with the whole value. */
function restoreFields(
  key: string,
  names: readonly string[],
  previous: Record<string, unknown>,
  current: Record<string, unknown>,
): Operation | null {
  if (names.length === 0) return null;
  const kept = names.filter((name) => Object.hasOwn(previous, name));
  const fields = pick(previous, kept);
  if (kept.length === names.length) return { action: "update", key, value: fields };
  const others = Object.keys(current).filter((name) => !names.includes(name));
  return { action: "set", key, value: { ...pick(current, others), ...fields } };
}
