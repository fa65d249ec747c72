/** Token buckets: a limit that refills with time, up to a burst. Pure. */

/** Tokens a second, and at once after a while without spending. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
  /** Largest debt: a cost may exceed what is left. Unlimited if absent. */
  readonly maxDebt?: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#at = now;
  }

  /** Tokens left at `now`; negative while a debt is paid off. */
  left(now: number): number {
    const { perSecond, burst } = this.#rate;
    return Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1000);
  }

  spend(cost: number, now: number): number {
    const { maxDebt = Number.POSITIVE_INFINITY } = this.#rate;
    this.#left = Math.max(this.left(now) - cost, -maxDebt);
    this.#at = now;
    return this.#left;
  }

  affordableIn(now: number): number {
    const left = this.left(now);
    return left > 0 ? 0 : Math.floor((-left * 1000) / this.#rate.perSecond) + 1;
  }

  /** True when a new bucket would say the same. */
  isFull(now: number): boolean {
    return this.left(now) >= this.#rate.burst;
  }
}

/** Milliseconds until each bucket has something left. Spends 1 of each, unless that is later than `maxMs`. */
export function reserve(buckets: readonly TokenBucket[], maxMs: number, now: number): number {
  const waitMs = Math.max(...buckets.map((bucket) => bucket.affordableIn(now)));
  if (waitMs <= maxMs) for (const bucket of buckets) bucket.spend(1, now);
  return waitMs;
}

/** A limit for each key, such as a token bucket for each address. Full limits are forgotten as further keys come. */
export class KeyedLimits<Limit extends { isFull(now: number): boolean }> {
  readonly #create: (now: number) => Limit;
  readonly #maxKeys: number;
  readonly #limits = new Map<string, Limit>();

  /** Above `maxKeys` keys, the one first seen is forgotten, whatever it owes. */
  constructor(create: (now: number) => Limit, maxKeys = Number.POSITIVE_INFINITY) {
    this.#create = create;
    this.#maxKeys = maxKeys;
  }

  of(key: string, now: number): Limit {
    const known = this.#limits.get(key);
    if (known !== undefined) return known;
    this.#forgetSome(now);
    const limit = this.#create(now);
    this.#limits.set(key, limit);
    return limit;
  }

  /** Two looks for each new key: the memory follows the keys in use. */
  #forgetSome(now: number): void {
    for (let looks = 0; looks < 2; looks += 1) {
      const [oldest] = this.#limits;
      if (oldest === undefined) return;
      const [key, limit] = oldest;
      this.#limits.delete(key);
      if (!limit.isFull(now) && this.#limits.size + 1 < this.#maxKeys) this.#limits.set(key, limit);
    }
  }
}
