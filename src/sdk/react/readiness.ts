/** A condition that components wait for: they suspend until it holds, and throw why it cannot. */
import type { Unsubscribe } from "./external-source.ts";

/**
 * The time for which a preparation is kept for components that have not mounted: React discards a suspended tree that never mounted,
 * and renders it again when the promise settles.
 */
const KEPT_MS = 10_000;
/** The time for which a failure is thrown again; later, a reset error boundary makes another attempt. */
const FAILED_MS = 1_000;

export interface Preparation {
  readonly done: Promise<unknown>;
  /** Ends the preparation. */
  readonly release: Unsubscribe;
}

export class Readiness {
  readonly #prepare: () => Preparation;
  #isReady = false;
  #waiting: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(prepare: () => Preparation) {
    this.#prepare = prepare;
  }

  set(isReady: boolean): void {
    this.#isReady = isReady;
  }

  /** Returns if it is ready. Otherwise throws a promise that settles then, or the error. For use while rendering. */
  require(): void {
    if (this.#isReady) return;
    if (this.#failure !== null) throw this.#failure.error;
    this.#waiting ??= this.#wait();
    throw this.#waiting;
  }

  async #wait(): Promise<void> {
    const { done, release } = this.#prepare();
    try {
      await done;
      this.#isReady = true;
      setTimeout(release, KEPT_MS);
    } catch (error) {
      const failure = { error };
      this.#failure = failure;
      setTimeout(() => {
        this.#failure = null;
        release();
      }, FAILED_MS);
    } finally {
      this.#waiting = null;
    }
  }
}
