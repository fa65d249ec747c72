/** A bounded in-memory cache whose entries expire. Each isolate has its own, so entries can be stale for their lifetime. */

interface TtlCacheOptions {
  readonly ttlMs: number;
  readonly maxEntries: number;
}

interface Entry<V> {
  readonly value: V;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export class TtlCache<V> {
  readonly #options: TtlCacheOptions;
  /** Entries in the order in which they were set. */
  readonly #entries = new Map<string, Entry<V>>();

  constructor(options: TtlCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of an entry that has not expired at `now` (epoch ms), or undefined. */
  get(key: string, now: number): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > now) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, now: number): void {
    this.#entries.delete(key);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= this.#options.maxEntries && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(key, { value, expiresAt: now + this.#options.ttlMs });
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }
}

/** The time for which a row is used after its read, unless a newer version is known to exist. */
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
