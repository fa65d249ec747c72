/** What an organization's log counts by the hour, for charts. Pure. */

export const HOUR_MS = 60 * 60 * 1000;
/** Charts show the last 24. What is older than this is deleted with the next count. */
export const HOURS_KEPT = 48;

/** The start of the hour that contains `at`; both in epoch milliseconds. */
export const hourOf = (at: number): number => at - (at % HOUR_MS);

/** Runs of workflows that have ended. */
export type RunCounts = {
  readonly runs: number;
  /** How many of `runs` failed. */
  readonly failedRuns: number;
};

/** The activity of the hour that begins at `hour` (epoch ms). */
export type HourlyCounts = RunCounts & {
  readonly hour: number;
  readonly events: number;
};

/** The sums over all shards, the earliest hour first. */
export function addHours(shards: readonly (readonly HourlyCounts[])[]): HourlyCounts[] {
  const sums = new Map<number, HourlyCounts>();
  for (const { hour, events, runs, failedRuns } of shards.flat()) {
    const sum = sums.get(hour) ?? { hour, events: 0, runs: 0, failedRuns: 0 };
    sums.set(hour, {
      hour,
      events: sum.events + events,
      runs: sum.runs + runs,
      failedRuns: sum.failedRuns + failedRuns,
    });
  }
  return [...sums.values()].sort((one, other) => one.hour - other.hour);
}
