/** The object's only timers: each lets what waits go as soon as a pace allows. */

import type { Timetable } from "./flush-policy.ts";

export class Flusher {
  readonly #now: () => number;
  readonly #timetable: Timetable;
  readonly #flush: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(now: () => number, timetable: Timetable, flush: () => void) {
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
