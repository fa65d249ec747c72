/** Counts what happens, by the hour: a statement for the batch that makes it happen. */
import type { Statement, Tenant } from "../platform/d1.ts";

export const HOUR_MS = 60 * 60 * 1000;

/** What is counted. */
export interface HourlyCounts {
  readonly events?: number;
  readonly runs?: number;
  /** Those of the runs that failed. */
  readonly failedRuns?: number;
}

/** The beginning of the hour that `at` is in; both in epoch milliseconds. */
export const hourOf = (at: number): number => at - (at % HOUR_MS);

/** Counts what happened at `at`, if each of `conditions` selects a row. A crash may have some counted twice. */
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
