/** The object's only timers: each lets what waits go as soon as a pace allows. */

import type { FlushPolicy } from "./flush-policy.ts";

export class FlushTimer {
  readonly #now: () => number;
  readonly #timetable: FlushPolicy;
  readonly #flush: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(now: () => number, timetable: FlushPolicy, flush: () => void) {
    this.#now = now;
    this.#timetable = timetable;
    this.#flush = flush;
  }

  /** Something waits. A timer keeps the object awake, so there is one only while something does. */
  request(): void {
    if (this.#timer !== null) return;
    const now = this.#now();
    const waitMs = this.#timetable.dueAt(now) - now;
    if (waitMs <= 0) this.#run();
    else this.#timer = setTimeout(() => this.#run(), waitMs);
  }

  #run(): void {
    this.#timer = null;
    this.#flush();
  }
}
