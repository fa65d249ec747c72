/** Activity by time for charts: one shard of an event log counts by five minutes, later by the hour. */
import { HOUR_MS, MINUTE_MS } from "../../platform/time.ts";

const COLUMNS = "events INTEGER NOT NULL, runs INTEGER NOT NULL, failed_runs INTEGER NOT NULL";

/**
 * A row for each span with any activity. New counts go to `spans`, of five minutes each; the spans of hours before the
 * last are added up in `hours`.
 */
export const HOURS_TABLE = `CREATE TABLE IF NOT EXISTS hours (hour INTEGER PRIMARY KEY, ${COLUMNS});`;
export const SPANS_TABLE = `CREATE TABLE IF NOT EXISTS spans (at INTEGER PRIMARY KEY, ${COLUMNS});`;

type Sql = Pick<SqlStorage, "exec">;

export const countEvents = (sql: Sql, at: number, events: number): void => count(sql, at, [events, 0, 0]);

export const countRuns = (sql: Sql, at: number, { runs, failedRuns }: RunCounts): void =>
  count(sql, at, [0, runs, failedRuns]);

function count(sql: Sql, at: number, counts: readonly [events: number, runs: number, failed: number]): void {
  const total = sql
    .exec<{ events: number; runs: number }>(
      `INSERT INTO spans VALUES (?, ?, ?, ?) ON CONFLICT (at) DO UPDATE SET events = events + excluded.events,
         runs = runs + excluded.runs, failed_runs = failed_runs + excluded.failed_runs RETURNING events, runs`,
      ...[spanOf(at, FINE_MS), ...counts],
    )
    .one();
  // Only a new span can be the first of an hour, in which earlier ones are added up.
  if (total.events !== counts[0] || total.runs !== counts[1]) return;
  const { first } = sql.exec<{ first: number }>("SELECT min(at) AS first FROM spans").one();
  const fineFrom = hourOf(at) - HOUR_MS;
  if (first < fineFrom) addUp(sql, fineFrom);
}

/** Adds up the spans before `fineFrom` (epoch ms) by the hour, which happens once in an hour. */
function addUp(sql: Sql, fineFrom: number): void {
  sql.exec(
    `INSERT INTO hours SELECT at - at % ?, sum(events), sum(runs), sum(failed_runs) FROM spans WHERE at < ? GROUP BY 1
       ON CONFLICT (hour) DO UPDATE SET events = events + excluded.events, runs = runs + excluded.runs,
         failed_runs = failed_runs + excluded.failed_runs`,
    HOUR_MS,
    fineFrom,
  );
  sql.exec("DELETE FROM spans WHERE at < ?", fineFrom);
  sql.exec("DELETE FROM hours WHERE hour < ?", fineFrom - HOURS_KEPT * HOUR_MS);
}

/** The spans of `width` milliseconds that had any activity and begin at `from` (epoch ms) or later, the earliest first. */
export const readHours = (sql: Sql, from: number, width: number): HourlyCounts[] =>
  sql
    .exec<HourlyCounts>(
      `SELECT at - at % ? AS hour, sum(events) AS events, sum(runs) AS runs, sum(failed_runs) AS failedRuns
       FROM (SELECT hour AS at, events, runs, failed_runs FROM hours UNION ALL SELECT * FROM spans)
       WHERE at >= ? GROUP BY 1 ORDER BY 1`,
      width,
      from,
    )
    .toArray();

/** The finest span that is counted; kept for the current hour and the one before. */
export const FINE_MS = 5 * MINUTE_MS;
/** Charts show 30 days. Older counts are deleted. */
const HOURS_KEPT = 31 * 24;

/** The start of the span of `width` that contains `at`; all in milliseconds. */
export const spanOf = (at: number, width: number): number => at - (at % width);

export const hourOf = (at: number): number => spanOf(at, HOUR_MS);

export type RunCounts = {
  readonly runs: number;
  readonly failedRuns: number;
};

/** The activity of the hour, or of another span of time, that begins at `hour` (epoch ms). */
export type HourlyCounts = RunCounts & {
  readonly hour: number;
  readonly events: number;
};

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
