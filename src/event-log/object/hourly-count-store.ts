/** The activity of each hour as one shard of an event log counts it, in the transaction that appends the events. */
import { HOUR_MS, HOURS_KEPT, type HourlyCounts, hourOf, type RunCounts } from "../port/hourly-counts.ts";

/** One row for each hour with any activity. */
export const HOURS_TABLE = `CREATE TABLE IF NOT EXISTS hours (
  hour INTEGER PRIMARY KEY,
  events INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  failed_runs INTEGER NOT NULL
);`;

type Sql = Pick<SqlStorage, "exec">;

/** Counts events that happened at `at` (epoch ms). */
export const countEvents = (sql: Sql, at: number, events: number): void =>
  count(sql, hourOf(at), [events, 0, 0]);

/** Counts runs that ended at `at` (epoch ms). */
export const countRuns = (sql: Sql, at: number, { runs, failedRuns }: RunCounts): void =>
  count(sql, hourOf(at), [0, runs, failedRuns]);

function count(
  sql: Sql,
  hour: number,
  counts: readonly [events: number, runs: number, failed: number],
): void {
  sql.exec(
    `INSERT INTO hours VALUES (?, ?, ?, ?) ON CONFLICT (hour) DO UPDATE SET events = events + excluded.events,
       runs = runs + excluded.runs, failed_runs = failed_runs + excluded.failed_runs`,
    ...[hour, ...counts],
  );
  sql.exec("DELETE FROM hours WHERE hour < ?", hour - HOURS_KEPT * HOUR_MS);
}

/** The hours from `from` (epoch ms) on that had any activity, the earliest first. */
export const readHours = (sql: Sql, from: number): HourlyCounts[] =>
  sql
    .exec<HourlyCounts>(
      "SELECT hour, events, runs, failed_runs AS failedRuns FROM hours WHERE hour >= ? ORDER BY hour",
      from,
    )
    .toArray();
