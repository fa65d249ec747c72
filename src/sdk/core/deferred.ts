/** Promises that other code settles. */
import { AtriumError, clientFault } from "./error.ts";
import type { Runtime } from "./runtime.ts";

const TIMED_OUT = clientFault("TIMEOUT", "Changes were not confirmed in time: check the connection");

/** A promise with the functions that settle it: the oldest supported browsers lack `Promise.withResolvers`. */
export class Deferred<Value = void> {
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** The callers of `flush()`, who wait until no change is unsynced. */
export class FlushWaiters {
  readonly #runtime: Runtime;
  readonly #waiting = new Set<Deferred>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Settles by {@link resolve} or {@link reject}. Throws TIMEOUT if `timeoutMs` is given and passes before. */
  async wait(timeoutMs: number | undefined): Promise<void> {
    const flush = new Deferred();
    this.#waiting.add(flush);
    const timedOut = () => flush.reject(new AtriumError(TIMED_OUT));
    const cancel = timeoutMs === undefined ? () => {} : this.#runtime.after(timeoutMs, timedOut);
    try {
      await flush.promise;
    } finally {
      cancel();
      this.#waiting.delete(flush);
    }
  }

  resolve(): void {
    for (const flush of this.#waiting) flush.resolve();
  }

  reject(error: AtriumError): void {
    for (const flush of this.#waiting) flush.reject(error);
  }
}
