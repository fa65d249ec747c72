/** The overview and the usage of an organization. */

import type { CounterName } from "@atrium/contract/resources/quota.ts";
import type { Activity, Overview, Usage } from "@atrium/contract/rest/metrics.ts";
import { DAY_MS, HOUR_MS, presentTime } from "@atrium/contract/time.ts";
import { FINE_MS, type HourlyCounts, spanOf } from "../../delivery/event-log/event-log-store.ts";
import { readHours } from "../../delivery/event-log/shards.ts";
import type { EventLogContext } from "../events/queries.ts";
import { selectQuotas } from "../quotas/statements.ts";
import { selectFirstJoin } from "../rooms/statements.ts";

/** The points of a range, and the milliseconds of each. */
const LAYOUTS: Readonly<Record<Usage["range"], { readonly width: number; readonly points: number }>> = {
  "1h": { width: FINE_MS, points: 12 },
  "24h": { width: HOUR_MS, points: 24 },
  "7d": { width: 6 * HOUR_MS, points: 28 },
  "30d": { width: DAY_MS, points: 30 },
};

/** The activity of a range point by point, its sums, and the sums of the time before it. */
async function readActivity(ctx: EventLogContext, range: Usage["range"]) {
  const { width, points: count } = LAYOUTS[range];
  const first = spanOf(ctx.now(), width) - (count - 1) * width;
  const length = count * width;
  // Today's last point has not ended: the time before ends at the same moment of its own last point.
  const before = { from: first - length, until: ctx.now() - length };
  const counted = await readHours(ctx.eventLogs, ctx.accountId, first, width, before);
  const points = toPoints(range, first, counted);
  return {
    points,
    sums: sumsOf(points),
    before: sumsOf(counted.filter(({ hour }) => hour < first).map(presentCounts)),
  };
}

/** The activity in a range that begins at `first`, point by point. */
function toPoints(range: Usage["range"], first: number, counted: readonly HourlyCounts[]): Activity[] {
  const { width, points } = LAYOUTS[range];
  return Array.from({ length: points }, (_, index) => {
    const at = first + index * width;
    const counts = counted.find(({ hour }) => hour === at);
    return { at: presentTime(at), ...presentCounts(counts ?? { events: 0, runs: 0, failedRuns: 0 }) };
  });
}

const presentCounts = ({ events, runs, failedRuns }: Omit<HourlyCounts, "hour">) => ({
  events,
  runs,
  failed_runs: failedRuns,
});

const sumsOf = (counts: readonly Omit<Activity, "at">[]) => {
  const sumOf = (field: "events" | "runs" | "failed_runs") =>
    counts.reduce((total, each) => total + each[field], 0);
  return { events: sumOf("events"), runs: sumOf("runs"), failed_runs: sumOf("failed_runs") };
};

export async function getUsage(ctx: EventLogContext, range: Usage["range"]): Promise<Usage> {
  const { points, sums, before } = await readActivity(ctx, range);
  return { range, point_seconds: LAYOUTS[range].width / 1000, ...sums, before, points };
}

/** The organization's totals, which triggers count, and its last 24 hours from the log. Up to a second old. */
export async function getOverview(ctx: EventLogContext): Promise<Overview> {
  const [[counts, [join]], { points, sums, before }] = await Promise.all([
    ctx.db.run([selectQuotas(ctx), selectFirstJoin(ctx)]),
    readActivity(ctx, "24h"),
  ]);
  const countOf = (name: CounterName): number => counts.find(({ quota }) => quota === name)?.used ?? 0;
  return {
    rooms_total: countOf("rooms"),
    rooms_online: countOf("online_rooms"),
    participants_online: countOf("online_users"),
    users_total: countOf("users"),
    first_joined_at: join?.firstJoinAt == null ? null : presentTime(join.firstJoinAt),
    events_last_day: sums.events,
    runs_last_day: sums.runs,
    failed_runs_last_day: sums.failed_runs,
    before,
    hours: points,
  };
}
