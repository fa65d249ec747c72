/** How fast the client speaks: somewhat below what the service takes before it calls it flooding (R60). */

const SUSTAINED_FRAMES_PER_S = 150;
const FULL_ALLOWANCE = 800;

/** A bucket of frames for one connection, which fills with time. */
export class SendRate {
  #allowance = FULL_ALLOWANCE;
  #countedAt: number;

  constructor(now: number) {
    this.#countedAt = now;
  }

  /** True when a frame may be sent now: then it counts. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }

  /** Counts a frame that does not wait for its turn. */
  force(now: number): void {
    this.#fill(now);
    this.#allowance -= 1;
  }

  #fill(now: number): void {
    const filled = ((now - this.#countedAt) * SUSTAINED_FRAMES_PER_S) / 1000;
    this.#allowance = Math.min(FULL_ALLOWANCE, this.#allowance + filled);
    this.#countedAt = now;
  }
}
