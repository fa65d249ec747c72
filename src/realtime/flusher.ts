/** The object's only timer: lets what waits go at once in a calm room, and in ticks in a busy one. */
import { Pace } from "./pace.ts";

export class Flusher {
  readonly #pace = new Pace();
  readonly #now: () => number;
  readonly #flush: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(now: () => number, flush: () => void) {
    this.#now = now;
    this.#flush = flush;
  }

  /** Notes that so many deliveries are asked for. */
  count(deliveries: number): void {
    this.#pace.count(deliveries, this.#now());
  }

  /** Something waits. A timer keeps the object awake, so there is one only while something does. */
  request(): void {
    if (this.#timer !== null) return;
    const now = this.#now();
    const waitMs = this.#pace.dueAt(now) - now;
    if (waitMs <= 0) this.#run();
    else this.#timer = setTimeout(() => this.#run(), waitMs);
  }

  #run(): void {
    this.#timer = null;
    this.#pace.flushed(this.#now());
    this.#flush();
  }
}
