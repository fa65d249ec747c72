/** A bounded in-memory cache whose entries expire: each isolate has its own, so a lifetime is how late it may be. */

export interface TtlCacheOptions {
  /** How long an entry is used, in milliseconds. */
  readonly ttlMs: number;
  /** When full, the entry that was set first makes room. */
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

  /** The value that was set less than the lifetime before `now` (epoch ms); undefined when there is none. */
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

  /** Removes all entries whose value matches. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }
}
