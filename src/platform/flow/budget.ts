/** How much a client may still spend: an {@link Allowance} that refills with time. Pure. */

/** How much may be spent: steadily, and at once by one who has spent nothing for a while. */
export interface Allowance {
  readonly perSecond: number;
  readonly burst: number;
}

export class Budget {
  readonly #allowance: Allowance;
  #left: number;
  /** When that was left (epoch ms). */
  #at: number;

  constructor(allowance: Allowance, now: number) {
    this.#allowance = allowance;
    this.#left = allowance.burst;
    this.#at = now;
  }

  /** What is left at `now`; negative while a cost that was known only afterwards is paid off. */
  left(now: number): number {
    const { perSecond, burst } = this.#allowance;
    return Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1000);
  }

  /** Returns what is left, as {@link left}. */
  spend(cost: number, now: number): number {
    this.#left = this.left(now) - cost;
    this.#at = now;
    return this.#left;
  }

  /** Milliseconds until something is left. */
  affordableIn(now: number): number {
    const left = this.left(now);
    return left > 0 ? 0 : Math.floor((-left * 1000) / this.#allowance.perSecond) + 1;
  }

  /** True when nothing would be lost by forgetting this budget. */
  isFull(now: number): boolean {
    return this.left(now) >= this.#allowance.burst;
  }
}
