/** How often a room speaks: at once while it is calm, and in ticks that stretch as it gets busy. */

/**
 * What a second may ask to be delivered before the tick stretches. It must stay well below what a core can
 * send frame by frame (some 15,000 a second): a room that is drowning hears too little to notice that it is.
 */
const CALM_DELIVERIES = 3_000;
const BUSY_DELIVERIES = 50_000;
const BUSY_GAP_MS = 16;
const CROWDED_GAP_MS = 33;
const MEMORY_MS = 1_000;

/**
 * Counts the deliveries that are asked for, not those that are made: coalescing makes far fewer, and a tick
 * that went by them would shrink as soon as it helped.
 */
export class Pace {
  /** Decays by itself: at a steady rate it comes to the deliveries of about one second. */
  #level = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #flushedAt = Number.NEGATIVE_INFINITY;

  count(deliveries: number, now: number): void {
    this.#level = this.#levelAt(now) + deliveries;
    this.#countedAt = now;
  }

  #levelAt(now: number): number {
    return this.#level * Math.exp(-Math.max(0, now - this.#countedAt) / MEMORY_MS);
  }

  /** When to flush what waits now (epoch ms); `now` in a calm room. */
  dueAt(now: number): number {
    const level = this.#levelAt(now);
    if (level <= CALM_DELIVERIES) return now;
    return Math.max(now, this.#flushedAt + (level <= BUSY_DELIVERIES ? BUSY_GAP_MS : CROWDED_GAP_MS));
  }

  flushed(now: number): void {
    this.#flushedAt = now;
  }
}
