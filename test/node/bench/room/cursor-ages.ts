/** How old the latest cursors are that observers have of everyone, looked at again and again. */
import { Histogram } from "./histogram.ts";

const LOOK_MS = 100;

export class CursorAges {
  readonly #senders: number;
  /** When the latest state was sent that an observer has of a sender (`performance.now()`). */
  readonly #sentAt: Float64Array;
  /** Age of each state that each observer has, at each look. */
  readonly ages = new Histogram();

  constructor(observers: number, senders: number) {
    this.#senders = senders;
    this.#sentAt = new Float64Array(observers * senders);
  }

  see(observer: number, sender: number, sentAtMs: number): void {
    if (sender < this.#senders) this.#sentAt[observer * this.#senders + sender] = sentAtMs;
  }

  /** Looks until that time (`performance.now()`). An observer does not see its own cursor. */
  async watchUntil(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const now = performance.now();
      for (const [index, sentAt] of this.#sentAt.entries())
        if (index % this.#senders !== Math.floor(index / this.#senders)) this.ages.add(now - sentAt);
    }
  }
}
