/** The client's environment: time, randomness and sockets. Tests pass their own. */

export interface Runtime {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Epoch milliseconds, by the device's clock. */
  date(): number;
  /** Runs `action` once, `delayMs` from now. Returns a function that cancels it. */
  after(delayMs: number, action: () => void): () => void;
  random(): number;
  open(url: string): WebSocket;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Runs `action` for each event of this name on the browser's window. Returns a function that removes the listener. */
  listen(event: "online" | "pagehide" | "beforeunload", action: (event: Event) => void): () => void;
}

export const DEFAULT_RUNTIME: Runtime = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  open: (url) => new WebSocket(url),
  fetch: (url, init) => fetch(url, init),
  listen: (event, action) => {
    if (typeof addEventListener !== "function") return () => {};
    addEventListener(event, action);
    return () => removeEventListener(event, action);
  },
};

/** An id that never repeats: 128 random bits. `crypto.randomUUID` does not exist on pages served over plain http. */
export const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");
