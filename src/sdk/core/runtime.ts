/** What the client takes from where it runs: time, chance, sockets. Tests put their own in its place. */

import { isRecord } from "./json.ts";

const PATIENCE_MS = 10_000;

export interface Runtime {
  /** Milliseconds that never go back. */
  now(): number;
  /** Runs `action` once, `delayMs` from now. Returns the function that prevents it. */
  after(delayMs: number, action: () => void): () => void;
  /** At least 0, less than 1. */
  random(): number;
  open(url: string): WebSocket;
  /** Whether the service itself says that there is nothing at this WebSocket address: sockets do not tell why they fail. */
  isGone(url: string): Promise<boolean>;
  /** Runs `action` when a browser finds its network again. Returns the function that ends it. */
  onOnline(action: () => void): () => void;
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
      const response = await fetch(url.replace(/^ws/, "http"), { signal: AbortSignal.timeout(PATIENCE_MS) });
      const answer: unknown = await response.json();
      return isRecord(answer) && isRecord(answer.error) && answer.error.code === "NOT_FOUND";
    } catch {
      return false;
    }
  },
  onOnline: (action) => {
    if (typeof addEventListener !== "function") return () => {};
    addEventListener("online", action);
    return () => removeEventListener("online", action);
  },
};

/** A random UUID. `crypto.randomUUID` would do, but pages from plain http do not have it. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, "0");
  });
  return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
