/** A subscriber's row as its handler uses it: read once for all who ask at once, and again when it has changed. */

/** A row may be used for so long after it was read, unless a newer version of it is known of. */
const LIFETIME_MS = 1_000;

export class CachedRow<Row> {
  readonly #load: () => Promise<Row | null>;
  readonly #now: () => number;
  #latest: { readonly row: Promise<Row | null>; readonly readAt: number } | null = null;
  #version = 0;

  constructor(load: () => Promise<Row | null>, now: () => number) {
    this.#load = load;
    this.#now = now;
  }

  /** The row; null when it is gone. One that changes while it is read is read again. */
  async get(): Promise<Row | null> {
    for (;;) {
      if (this.#latest === null || this.#now() - this.#latest.readAt >= LIFETIME_MS) {
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

  /** Forgets the row if its version is lower than this. */
  requireVersion(version: number): void {
    if (version <= this.#version) return;
    this.invalidate();
    if (Number.isFinite(version)) this.#version = version;
  }

  invalidate(): void {
    this.#latest = null;
  }
}
