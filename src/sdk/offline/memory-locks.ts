/** Locks of clients in one process, with the rules of the browser's Web Locks. */

/** The clients that wait for a lock, the one that has it first. */
type Line = (() => void)[];

export class MemoryLocks {
  readonly #lines = new Map<string, Line>();

  /** Resolves with a function that releases the lock; with null if the signal is aborted first. */
  lock(name: string, signal: AbortSignal): Promise<(() => void) | null> {
    const line = this.#lines.get(name) ?? [];
    this.#lines.set(name, line);
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const grant = () => resolve(leave);
      const leave = () => {
        const wasFirst = line[0] === grant;
        const index = line.indexOf(grant);
        if (index >= 0) line.splice(index, 1);
        if (wasFirst) line[0]?.();
      };
      const abort = () => {
        if (line[0] === grant) return;
        leave();
        resolve(null);
      };
      signal.addEventListener("abort", abort, { once: true });
      line.push(grant);
      if (line[0] === grant) grant();
    });
  }
}
