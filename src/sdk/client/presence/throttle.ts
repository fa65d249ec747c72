/** Runs an action at once, and again at most once per interval while calls continue. */
import type { Runtime } from "../../core/runtime.ts";

export class Throttle {
  readonly #runtime: Pick<Runtime, "after">;
  /** At least so long after one run the next one follows. */
  intervalMs: number;
  readonly #action: () => void;
  #cancel: (() => void) | null = null;
  #isDue = false;

  constructor(runtime: Pick<Runtime, "after">, intervalMs: number, action: () => void) {
    this.#runtime = runtime;
    this.intervalMs = intervalMs;
    this.#action = action;
  }

  /** Runs the action now or, if it ran within the interval, at the end of the interval. */
  call(): void {
    if (this.#cancel !== null) {
      this.#isDue = true;
      return;
    }
    this.#cancel = this.#runtime.after(this.intervalMs, () => this.#end());
    this.#action();
  }

  #end(): void {
    this.#cancel = null;
    if (!this.#isDue) return;
    this.#isDue = false;
    this.call();
  }

  /** Runs the action once more, and not before this time has passed. */
  postpone(delayMs: number): void {
    this.stop();
    this.#isDue = true;
    this.#cancel = this.#runtime.after(delayMs, () => this.#end());
  }

  /** Cancels a run that is due. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#isDue = false;
  }
}
