/** What the client needs from its environment: time, randomness and sockets. Tests pass their own. */
import { isRecord } from "./json.ts";

const PROBE_TIMEOUT_MS = 10_000;

export interface Runtime {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Runs `action` once, `delayMs` from now. Returns a function that cancels it. */
  after(delayMs: number, action: () => void): () => void;
  /** At least 0, less than 1. */
  random(): number;
  open(url: string): WebSocket;
  /** Whether the service answers NOT_FOUND at this WebSocket address. Browsers do not say why a socket failed. */
  isGone(url: string): Promise<boolean>;
  /** Runs `action` for each event of this name on the browser's window. Returns a function that removes the listener. */
  listen(event: "online" | "pagehide" | "beforeunload", action: (event: Event) => void): () => void;
}

export const DEFAULT_RUNTIME: Runtime = {
  now: () => performance.now(),
  after: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  open: (url) => new WebSocket(url),
  isGone: async (url) => {
    try {
      const response = await fetch(url.replace(/^ws/, "http"), {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      const body: unknown = await response.json();
      return isRecord(body) && isRecord(body.error) && body.error.code === "NOT_FOUND";
    } catch {
      return false;
    }
  },
  listen: (event, action) => {
    if (typeof addEventListener !== "function") return () => {};
    addEventListener(event, action);
    return () => removeEventListener(event, action);
  },
};

/** A random UUID. `crypto.randomUUID` does not exist on pages served over plain http. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}
