/** Limits how fast documents send: beside what the client sends otherwise, below what the room takes of a socket (R60). */

const FRAMES_PER_SECOND = 40;
/** Also the most that one frame may count. */
const BURST = 150;
/** The room counts a frame once, and once more for each full of these bytes. */
const FRAME_BYTES = 64 * 1024;

/** Of one connection. */
export class FrameBudget {
  #left = BURST;
  #filledAt: number;

  constructor(now: number) {
    this.#filledAt = now;
  }

  /** Spends what a frame of so many bytes counts. False if it has to wait. */
  spend(bytes: number, now: number): boolean {
    const earned = ((now - this.#filledAt) * FRAMES_PER_SECOND) / 1000;
    this.#left = Math.min(BURST, this.#left + earned);
    this.#filledAt = now;
    const frames = 1 + Math.floor(bytes / FRAME_BYTES);
    if (this.#left < frames) return false;
    this.#left -= frames;
    return true;
  }
}
