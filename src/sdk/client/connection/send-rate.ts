/** Limits how fast the client sends, to stay below the rate at which the service closes connections (R60). */

const FRAMES_PER_SECOND = 150;
const BURST = 800;

/** A token bucket of frames for one connection. */
export class SendRate {
  #tokens = BURST;
  #refilledAt: number;

  constructor(now: number) {
    this.#refilledAt = now;
  }

  /** Takes a token, and returns true, if a frame may be sent now. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token for a frame that is sent in any case. */
  force(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  #refill(now: number): void {
    const earned = ((now - this.#refilledAt) * FRAMES_PER_SECOND) / 1000;
    this.#tokens = Math.min(BURST, this.#tokens + earned);
    this.#refilledAt = now;
  }
}
