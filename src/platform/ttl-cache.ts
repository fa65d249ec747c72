/** A bounded in-memory cache whose entries expire. Each isolate has its own, so entries can be stale for their lifetime. */

export interface TtlCacheOptions {
  /** Lifetime of an entry, in milliseconds. */
  readonly ttlMs: number;
  /** When the cache is full, a new entry replaces the one that was set first. */
  readonly maxEntries: number;
}

interface Entry<V> {
  readonly value: V;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export class TtlCache<V> {
  readonly #options: TtlCacheOptions;
  /** In the order in which they were set. */
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

  /** Deletes all entries whose value matches. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }
}
