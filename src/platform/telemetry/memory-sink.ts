/** The stand-in for Analytics Engine where there is none: it adds points up in memory, and forgets what has not changed for hours. */
import type { DataPoint, MetricSink } from "./metrics.ts";

/** A series that has not changed for so long is forgotten, and begins at 0 when it comes back, as after a restart. */
const KEPT_MS = 6 * 60 * 60 * 1000;
/** The series that changed last are kept. */
const MAX_SERIES = 5_000;

/** A series with its totals since it began. */
export interface Total {
  readonly set: string;
  readonly labels: readonly string[];
  readonly figures: readonly number[];
}

export class MemorySink implements MetricSink {
  readonly #now: () => number;
  /** In the order of their last changes. */
  readonly #totals = new Map<string, Total & { readonly at: number }>();

  /** `now` returns epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  writeDataPoint({ indexes: [set], blobs, doubles }: DataPoint): void {
    const key = [set, ...blobs].join("\n");
    const known = this.#totals.get(key);
    const figures = doubles.map((each, index) => each + (known?.figures[index] ?? 0));
    this.#totals.delete(key);
    this.#totals.set(key, { set, labels: blobs, figures, at: this.#now() });
    const oldest = this.#totals.keys().next();
    if (this.#totals.size > MAX_SERIES && !oldest.done) this.#totals.delete(oldest.value);
  }

  totals(): Total[] {
    const from = this.#now() - KEPT_MS;
    for (const [key, { at }] of this.#totals) {
      if (at >= from) break;
      this.#totals.delete(key);
    }
    return [...this.#totals.values()];
  }
}
