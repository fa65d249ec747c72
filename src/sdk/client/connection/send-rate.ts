/** Limits how fast the client sends: below the rate at which the service closes connections (R60), and what it takes in. */

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

const FIRST_WINDOW_BYTES = 16 * 1024;
const MIN_WINDOW_BYTES = 4 * 1024;
const MAX_WINDOW_BYTES = 512 * 1024;
/** How long what is sent may wait for what was sent before it. */
const QUEUE_MS = 250;

/** How many bytes may be unanswered on one connection: as many as pass through it in a round trip and {@link QUEUE_MS}. */
export class SendWindow {
  bytes = FIRST_WINDOW_BYTES;
  /** The shortest round trip, which waited for the least. */
  #roundTripMs = Infinity;

  /** Something was answered after `elapsedMs`; `bytes`, its own included, were unanswered when it was sent. */
  measure(bytes: number, elapsedMs: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs, elapsedMs);
    const allowedMs = this.#roundTripMs + QUEUE_MS;
    const measured = (bytes * allowedMs) / Math.max(elapsedMs, 1);
    const next = elapsedMs > allowedMs ? measured : Math.max(measured, this.bytes);
    this.bytes = Math.min(Math.max(next, MIN_WINDOW_BYTES), MAX_WINDOW_BYTES);
  }
}
