/** How often a room speaks: at once while it is calm, and in ticks or with rests that stretch as it gets busy. */

/** When what waits may go. */
export interface FlushPolicy {
  /** When it is due if it waits now (epoch ms); `now` for at once. */
  dueAt(now: number): number;
}

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
 * The ticks of presence, where only the latest counts, and a longer tick spares work.
 * Counts the deliveries that are asked for, not those that are made: coalescing makes far fewer, and a tick
 * that went by them would shrink as soon as it helped.
 */
export class TickPolicy implements FlushPolicy {
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

/** Of frames sent: a little more than sending them takes, so that the room can listen as long as it speaks. */
const REST_PER_FRAME_MS = 0.03;

/**
 * The rests after what must arrive, whole and soon. They follow from what the last flush cost: one that
 * reached few is followed by the next at once, and what comes during a long one goes in one frame.
 */
export class RestPolicy implements FlushPolicy {
  #endsAt = Number.NEGATIVE_INFINITY;

  dueAt(now: number): number {
    return Math.max(now, this.#endsAt);
  }

  flushed(now: number, frames: number): void {
    this.#endsAt = now + frames * REST_PER_FRAME_MS;
  }
}
