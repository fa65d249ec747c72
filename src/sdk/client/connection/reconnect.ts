/** The attempts to come back: how many there were, and the one that is waited for. */

import type { Runtime } from "../../core/runtime.ts";
import { reconnectDelayMs } from "./reconnect-policy.ts";

export class ReconnectTimer {
  readonly #surroundings: Runtime;
  #attempt = 0;
  #cancel: (() => void) | null = null;

  constructor(surroundings: Runtime) {
    this.#surroundings = surroundings;
  }

  /** The latest attempt, from 1. */
  get attempt(): number {
    return this.#attempt;
  }

  get isWaiting(): boolean {
    return this.#cancel !== null;
  }

  /** The next attempt is the first again. */
  reset(): void {
    this.#attempt = 0;
  }

  /** Runs `action` after the pause of the next attempt, or as soon as a browser finds its network again. */
  plan(comeback: "soon" | "later", action: () => void): void {
    this.#attempt += 1;
    const pauseMs = reconnectDelayMs(this.#attempt, comeback, this.#surroundings.random());
    const go = () => {
      this.cancel();
      action();
    };
    const ends = [this.#surroundings.after(pauseMs, go), this.#surroundings.onOnline(go)];
    this.#cancel = () => {
      for (const end of ends) end();
    };
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
