/** Runs an action at once, and again at most once per interval while calls continue. */
import type { Runtime } from "../../core/runtime.ts";

export class Throttle {
  readonly #runtime: Pick<Runtime, "after">;
  /** The least time between two runs. */
  intervalMs: number;
  readonly #action: () => void;
  #cancel: (() => void) | null = null;
  #isDue = false;

  constructor(runtime: Pick<Runtime, "after">, intervalMs: number, action: () => void) {
    this.#runtime = runtime;
    this.intervalMs = intervalMs;
    this.#action = action;
  }

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

  postpone(delayMs: number): void {
    this.stop();
    this.#isDue = true;
    this.#cancel = this.#runtime.after(delayMs, () => this.#end());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#isDue = false;
  }
}
