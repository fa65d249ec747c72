/** `client.history`: undoes and redoes the user's own changes of stores, and never later changes of others. */
import { Emitter } from "../../core/emitter.ts";
import { isRecord, isSameJson } from "../../core/json.ts";
import type { Difference, Operation } from "./entries.ts";

const MAX_STEPS = 200;

export interface Restorable {
  get(key: string): unknown;
  restore(operation: Operation): Difference | null;
}

interface Change {
  readonly store: Restorable;
  readonly difference: Difference;
}

type Step = Change[];

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

  record(store: Restorable, differences: readonly Difference[]): void {
    if (differences.length === 0) return;
    this.#undone.length = 0;
    const step = this.#open ?? this.#begin();
    if (this.#isPaused) this.#open = step;
    for (const difference of differences) extend(step, { store, difference });
    this.#report();
  }

  #begin(): Step {
    const step: Step = [];
    this.#done.push(step);
    if (this.#done.length > MAX_STEPS) this.#done.shift();
    return step;
  }

  #move(from: Step[], to: Step[]): boolean {
    this.#open = null;
    const restored = revert(from.at(-1) ?? []);
    from.pop();
    if (restored.length > 0) to.push(restored);
    this.#report();
    return restored.length > 0;
  }

  #report(): void {
    const state = { canUndo: this.#done.length > 0, canRedo: this.#undone.length > 0 };
    if (isSameJson(state, this.#state)) return;
    this.#state = state;
    this.emit("changed", state);
  }
}

/** Extends the step's own earlier change of the same value, if nothing came between. */
function extend(step: Step, { store, difference }: Change): void {
  const { key, previous, value } = difference;
  const index = step.findLastIndex((each) => each.store === store && each.difference.key === key);
  const earlier = step[index]?.difference;
  if (earlier === undefined || earlier.value !== previous) step.push({ store, difference });
  else step[index] = { store, difference: { key, previous: earlier.previous, value } };
}

function revert(step: Step): Step {
  const restored: Step = [];
  for (const { store, difference } of [...step].reverse()) {
    const operation = planRestore(difference, store.get(difference.key));
    const change = operation === null ? null : store.restore(operation);
    if (change !== null) extend(restored, { store, difference: change });
  }
  return restored;
}

const fieldOf = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const pick = (record: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

const differingFields = (a: Record<string, unknown>, b: Record<string, unknown>): string[] =>
  Object.keys({ ...a, ...b }).filter((name) => !isSameJson(fieldOf(a, name), fieldOf(b, name)));

const isSame = (a: unknown, b: unknown): boolean =>
  isRecord(a) && isRecord(b) ? differingFields(a, b).length === 0 : isSameJson(a, b);

/** The write that takes back what is still visible of a change, field by field in objects; null if nothing is. */
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
