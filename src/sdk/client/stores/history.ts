/** `client.history`: undoes and redoes the user's own changes of stores, and never what others did since. */
import { Emitter } from "../../core/emitter.ts";
import { isSameJson } from "../../core/json.ts";
import type { Difference, Operation } from "./entries.ts";
import { planRestore } from "./restore.ts";

/** The oldest steps are forgotten. */
const MAX_STEPS = 200;

/** A store as the history sees it. */
export interface Restorable {
  get(key: string): unknown;
  /** Writes, and returns what it has changed. Throws NOT_JOINED. */
  restore(operation: Operation): Difference | null;
}

interface Change {
  readonly store: Restorable;
  readonly difference: Difference;
}

/** What one undo takes back. */
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
  /** The step that further changes become part of. */
  #open: Step | null = null;
  #state: HistoryState = { canUndo: false, canRedo: false };

  /** Whether there are changes of yours to undo. Others may have changed all of it since. */
  get canUndo(): boolean {
    return this.#state.canUndo;
  }

  get canRedo(): boolean {
    return this.#state.canRedo;
  }

  /**
   * Takes back your latest step, where its result is still visible. Returns whether anything has changed: false means
   * that others have changed all of the step since, or that there is none. Throws NOT_JOINED.
   */
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

  /** Makes everything that `action` writes before it returns one step, and returns what it returns. */
  transaction<Result>(action: () => Result): Result {
    if (this.#isPaused) return action();
    this.pause();
    try {
      return action();
    } finally {
      this.resume();
    }
  }

  /** Forgets all steps. */
  clear(): void {
    this.#done.length = 0;
    this.#undone.length = 0;
    this.#open = null;
    this.#report();
  }

  /** Adds the changes of one call as a step. Called by stores. */
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

/** Adds a change to a step: to the step's own earlier change of the same value, if nothing came between them. */
function extend(step: Step, { store, difference }: Change): void {
  const { key, previous, value } = difference;
  const index = step.findLastIndex((each) => each.store === store && each.difference.key === key);
  const earlier = step[index]?.difference;
  if (earlier === undefined || earlier.value !== previous) step.push({ store, difference });
  else step[index] = { store, difference: { key, previous: earlier.previous, value } };
}

/** Takes the changes of a step back, the latest first. Returns what this has changed. */
function revert(step: Step): Step {
  const restored: Step = [];
  for (const { store, difference } of [...step].reverse()) {
    const operation = planRestore(difference, store.get(difference.key));
    const change = operation === null ? null : store.restore(operation);
    if (change !== null) extend(restored, { store, difference: change });
  }
  return restored;
}
