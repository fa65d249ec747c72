/** What was read from the database: kept for a time, loaded once for concurrent readers, never older than known. */

/** How long a row is used after it was read, unless a newer version is known to exist. */
const LIFETIME_MS = 1_000;

/** Unlike a TTL cache, it shares one load among concurrent readers and discards a load that a change overtakes. */
export class CachedRow<Row> {
  readonly #load: () => Promise<Row | null>;
  readonly #now: () => number;
  readonly #lifetimeMs: number;
  #latest: { readonly row: Promise<Row | null>; readonly readAt: number } | null = null;
  #version = 0;

  constructor(load: () => Promise<Row | null>, now: () => number, lifetimeMs = LIFETIME_MS) {
    this.#load = load;
    this.#now = now;
    this.#lifetimeMs = lifetimeMs;
  }

  /** The row; null when it is gone. Loads it again if it was invalidated meanwhile; rejects when loading fails. */
  async get(): Promise<Row | null> {
    for (;;) {
      if (this.#latest === null || this.#now() - this.#latest.readAt >= this.#lifetimeMs) {
        this.#latest = { row: this.#load(), readAt: this.#now() };
      }
      const latest = this.#latest;
      try {
        const row = await latest.row;
        if (this.#latest === latest) return row;
      } catch (error) {
        if (this.#latest === latest) this.invalidate();
        throw error;
      }
    }
  }

  /** Discards the row if its version may be lower than this; infinity always discards it. */
  requireVersion(version: number): void {
    if (version <= this.#version) return;
    this.invalidate();
    if (Number.isFinite(version)) this.#version = version;
  }

  invalidate(): void {
    this.#latest = null;
  }
}
