/** Durations counted in bands, from which percentiles follow for any time that is added up. Pure. */

/** The growth of bands, each on the one before: percentiles are at most a quarter too high. */
const GROWTH = 1.25;
/** The last band has everything above some 45 seconds. */
const MAX_BAND = 48;

/** The durations in each band, counted; empty bands are left out. */
export type Latencies = Readonly<Record<string, number>>;

const bandOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(MAX_BAND, Math.ceil(Math.log(ms) / Math.log(GROWTH)));

/** Adds durations, in milliseconds. */
export function addDurations(latencies: Latencies, durations: readonly number[]): Latencies {
  const counts: Record<string, number> = { ...latencies };
  for (const ms of durations) counts[bandOf(ms)] = (counts[bandOf(ms)] ?? 0) + 1;
  return counts;
}

export function mergeLatencies(all: readonly Latencies[]): Latencies {
  const counts: Record<string, number> = {};
  for (const latencies of all) {
    for (const [band, count] of Object.entries(latencies)) counts[band] = (counts[band] ?? 0) + count;
  }
  return counts;
}

/** The duration that this share of all does not exceed, in whole milliseconds; null without any. */
export function percentile(latencies: Latencies, share: number): number | null {
  const bands = Object.entries(latencies).sort(([a], [b]) => Number(a) - Number(b));
  const wanted = bands.reduce((sum, [, count]) => sum + count, 0) * share;
  let reached = 0;
  for (const [band, count] of bands) {
    reached += count;
    if (reached >= wanted) return Math.round(GROWTH ** Number(band));
  }
  return null;
}
