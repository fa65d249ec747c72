/** Counts of an organization's events and runs by time, for charts. Pure. */
import { HOUR_MS, MINUTE_MS } from "../../platform/durations.ts";

/** The finest span that is counted; kept for the current hour and the one before. */
export const FINE_MS = 5 * MINUTE_MS;
/** Charts show 30 days. What is older than this is deleted. */
export const HOURS_KEPT = 31 * 24;

/** The start of the span of `width` that contains `at`; all in milliseconds. */
export const spanOf = (at: number, width: number): number => at - (at % width);

/** The start of the hour that contains `at`; both in epoch milliseconds. */
export const hourOf = (at: number): number => spanOf(at, HOUR_MS);

/** Runs of workflows that have ended. */
export type RunCounts = {
  readonly runs: number;
  /** The failed ones of `runs`. */
  readonly failedRuns: number;
};

/** The activity of the hour, or of another span of time, that begins at `hour` (epoch ms). */
export type HourlyCounts = RunCounts & {
  readonly hour: number;
  readonly events: number;
};

/** The sums over all shards, the earliest span first. */
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
