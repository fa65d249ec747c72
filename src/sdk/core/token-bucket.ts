/** A token bucket: how many frames a client may send over one connection. */

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #refilledAt: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#refilledAt = now;
  }

  /** Takes tokens, and returns true, if there are enough. */
  take(now: number, tokens = 1): boolean {
    this.#refill(now);
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Takes a token for a frame that is sent in any case, as a debt if there is none. */
  force(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  #refill(now: number): void {
    const { perSecond, burst } = this.#rate;
    const earned = ((now - this.#refilledAt) * perSecond) / 1000;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#refilledAt = now;
  }
}
