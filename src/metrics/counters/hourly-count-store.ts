/** Hourly counts: a statement for the batch that makes the counted change. */
import type { Statement, Tenant } from "../../platform/d1.ts";

export const HOUR_MS = 60 * 60 * 1000;

/** The counts of one change. */
export interface HourlyCounts {
  readonly events?: number;
  readonly runs?: number;
  /** How many of `runs` failed. */
  readonly failedRuns?: number;
}

/** The start of the hour that contains `at`; both in epoch milliseconds. */
export const hourOf = (at: number): number => at - (at % HOUR_MS);

/** Adds counts for the hour of `at` (epoch ms) if each of `conditions` selects a row. A retry after a crash counts twice. */
export const incrementHourlyCounts = (
  { accountId }: Pick<Tenant, "accountId">,
  at: number,
  { events = 0, runs = 0, failedRuns = 0 }: HourlyCounts,
  conditions: readonly Statement[] = [],
): Statement => ({
  sql: `INSERT INTO hourly_counts (account_id, hour, events, runs, failed_runs)
        SELECT ?, ?, ?, ?, ? WHERE ${["TRUE", ...conditions.map(({ sql }) => `EXISTS (${sql})`)].join(" AND ")}
        ON CONFLICT (account_id, hour) DO UPDATE SET events = events + excluded.events,
          runs = runs + excluded.runs, failed_runs = failed_runs + excluded.failed_runs`,
  params: [
    ...[accountId, hourOf(at), events, runs, failedRuns],
    ...conditions.flatMap(({ params }) => params),
  ],
});
