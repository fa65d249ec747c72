/** The client's environment: time, randomness and sockets. Tests pass their own. */
import { AtriumError, clientFault } from "./error.ts";

export type PageEvent = "online" | "offline" | "pageshow" | "visibilitychange" | "pagehide" | "beforeunload";

export interface Runtime {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Epoch milliseconds, by the device's clock. */
  date(): number;
  /** Runs `action` once, `delayMs` from now. Returns a function that cancels it. */
  after(delayMs: number, action: () => void): () => void;
  random(): number;
  open(url: string, protocols?: string[]): WebSocket;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Runs `action` for each event of this name on the browser's window or document. Returns a function that removes the listener. */
  listen(event: PageEvent, action: (event: Event) => void): () => void;
}

export const DEFAULT_RUNTIME: Runtime = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  open: (url, protocols) => new WebSocket(url, protocols),
  fetch: (url, init) => fetch(url, init),
  listen: (event, action) => {
    if (typeof addEventListener !== "function") return () => {};
    addEventListener(event, action);
    return () => removeEventListener(event, action);
  },
};

/** An id that never repeats: 128 random bits. `crypto.randomUUID` does not exist on pages served over plain http. */
export const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** A promise with the functions that settle it: the oldest supported browsers lack `Promise.withResolvers`. */
export class Deferred<Value = void> {
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/**
 * A call that can be given up: its promise is then rejected with the signal's reason. A sent request may take
 * effect.
 */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** The promise, which is rejected as soon as the signal is aborted; `giveUp` is called then. */
export function abortable<Value>(
  promise: Promise<Value>,
  { signal }: Abortable,
  giveUp = () => {},
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      giveUp();
    };
    const end = () => signal.removeEventListener("abort", abort);
    void promise.then(resolve, reject).then(end);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  });
}

const TIMED_OUT = clientFault("TIMEOUT", "Not confirmed in time: check the network");

/** Callers that wait for the same event, such as the ones of `flush()`. */
export class Waiters {
  readonly #runtime: Runtime;
  readonly #waiting = new Set<Deferred>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Settles by {@link resolve} or {@link reject}. Throws TIMEOUT if `timeoutMs` is given and passes before. */
  async wait(timeoutMs?: number): Promise<void> {
    const waiter = new Deferred();
    this.#waiting.add(waiter);
    const timedOut = () => waiter.reject(new AtriumError(TIMED_OUT));
    const cancel = timeoutMs === undefined ? () => {} : this.#runtime.after(timeoutMs, timedOut);
    try {
      await waiter.promise;
    } finally {
      cancel();
      this.#waiting.delete(waiter);
    }
  }

  resolve(): void {
    for (const waiter of this.#waiting) waiter.resolve();
  }

  reject(error: unknown): void {
    for (const waiter of this.#waiting) waiter.reject(error);
  }
}
