/** Lets the first of a series through at once, and then the latest once in an interval. */
import type { Runtime } from "../../core/runtime.ts";

export class Throttle {
  readonly #surroundings: Pick<Runtime, "after">;
  readonly #intervalMs: number;
  readonly #action: () => void;
  #cancel: (() => void) | null = null;
  #isDue = false;

  constructor(surroundings: Pick<Runtime, "after">, intervalMs: number, action: () => void) {
    this.#surroundings = surroundings;
    this.#intervalMs = intervalMs;
    this.#action = action;
  }

  /** Runs the action now, or at the end of the interval that its last run began. */
  call(): void {
    if (this.#cancel !== null) {
      this.#isDue = true;
      return;
    }
    this.#cancel = this.#surroundings.after(this.#intervalMs, () => this.#end());
    this.#action();
  }

  #end(): void {
    this.#cancel = null;
    if (!this.#isDue) return;
    this.#isDue = false;
    this.call();
  }

  /** Forgets what is due. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#isDue = false;
  }
}
