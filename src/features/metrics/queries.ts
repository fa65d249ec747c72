/** The overview and the usage of an organization. */

import { FINE_MS, type HourlyCounts, spanOf } from "../../delivery/event-log/event-log-store.ts";
import { readHours } from "../../delivery/event-log/shards.ts";
import { DAY_MS, HOUR_MS, presentTime } from "../../platform/time.ts";
import type { CounterName } from "../../wire/quota.ts";
import type { EventLogContext } from "../events/queries.ts";
import { selectQuotas } from "../quotas/statements.ts";
import { selectFirstJoin } from "../rooms/statements.ts";
import type { Activity, Overview, Usage } from "./schema.ts";

/** The points of a range, and the milliseconds of each. */
const LAYOUTS: Readonly<Record<Usage["range"], { readonly width: number; readonly points: number }>> = {
  "1h": { width: FINE_MS, points: 12 },
  "24h": { width: HOUR_MS, points: 24 },
  "7d": { width: 6 * HOUR_MS, points: 28 },
  "30d": { width: DAY_MS, points: 30 },
};

const firstOf = (range: Usage["range"], now: number): number =>
  spanOf(now, LAYOUTS[range].width) - (LAYOUTS[range].points - 1) * LAYOUTS[range].width;

/** The counts of the log's shards in a range. */
const readCounts = (ctx: EventLogContext, range: Usage["range"], first: number) =>
  readHours(ctx.eventLogs, ctx.accountId, first, LAYOUTS[range].width);

/** The activity in a range that begins at `first`, point by point. */
function toPoints(range: Usage["range"], first: number, counted: readonly HourlyCounts[]): Activity[] {
  const { width, points } = LAYOUTS[range];
  return Array.from({ length: points }, (_, index) => {
    const at = first + index * width;
    const { events = 0, runs = 0, failedRuns = 0 } = counted.find(({ hour }) => hour === at) ?? {};
    return { at: presentTime(at), events, runs, failed_runs: failedRuns };
  });
}

const sumOf = (points: readonly Activity[], field: "events" | "runs" | "failed_runs"): number =>
  points.reduce((total, point) => total + point[field], 0);

export async function getUsage(ctx: EventLogContext, range: Usage["range"]): Promise<Usage> {
  const first = firstOf(range, ctx.now());
  const points = toPoints(range, first, await readCounts(ctx, range, first));
  return {
    range,
    point_seconds: LAYOUTS[range].width / 1000,
    events: sumOf(points, "events"),
    runs: sumOf(points, "runs"),
    failed_runs: sumOf(points, "failed_runs"),
    points,
  };
}

/** The organization's totals, which triggers count, and its last 24 hours from the log. Up to a second old. */
export async function getOverview(ctx: EventLogContext): Promise<Overview> {
  const first = firstOf("24h", ctx.now());
  const [[counts, [join]], counted] = await Promise.all([
    ctx.db.run([selectQuotas(ctx), selectFirstJoin(ctx)]),
    readCounts(ctx, "24h", first),
  ]);
  const hours = toPoints("24h", first, counted);
  const countOf = (name: CounterName): number => counts.find(({ quota }) => quota === name)?.used ?? 0;
  return {
    rooms_total: countOf("rooms"),
    rooms_online: countOf("online_rooms"),
    participants_online: countOf("online_users"),
    users_total: countOf("users"),
    first_joined_at: join?.firstJoinAt == null ? null : presentTime(join.firstJoinAt),
    events_last_day: sumOf(hours, "events"),
    runs_last_day: sumOf(hours, "runs"),
    failed_runs_last_day: sumOf(hours, "failed_runs"),
    hours,
  };
}
