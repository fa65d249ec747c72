/** Counts durations in buckets, so that millions take little memory. */

const RESOLUTION_MS = 0.1;
/** Longer durations count as this long. */
const LONGEST_MS = 20_000;

export class Histogram {
  readonly #counts = new Uint32Array(LONGEST_MS / RESOLUTION_MS);
  #total = 0;

  add(ms: number): void {
    const index = Math.min(this.#counts.length - 1, Math.max(0, Math.floor(ms / RESOLUTION_MS)));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total += 1;
  }

  /** The quantile in milliseconds; NaN if empty. */
  quantile(share: number): number {
    let left = share * this.#total;
    if (left === 0) return Number.NaN;
    for (const [index, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return (index + 1) * RESOLUTION_MS;
    }
    return LONGEST_MS;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
