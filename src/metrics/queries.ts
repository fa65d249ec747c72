/** The overview of an organization. */
import type { RequestContext } from "../context/context.ts";
import type { Database } from "../platform/d1.ts";
import { presentTime } from "../platform/time.ts";
import { HOUR_MS, hourOf } from "./counters/hourly-count-store.ts";
import type { Overview } from "./schema.ts";
import { countUsers, deleteHours, selectHours, selectRoomTotals } from "./store.ts";

const HOURS_SHOWN = 24;
const HOURS_KEPT = 48;

/** The organization's totals and its last 24 hours, in one D1 trip. Live counts may be up to a second old. */
export async function getOverview(ctx: RequestContext): Promise<Overview> {
  const first = hourOf(ctx.now()) - (HOURS_SHOWN - 1) * HOUR_MS;
  const [[rooms], [users], rows] = await ctx.db.run([
    selectRoomTotals(ctx),
    countUsers(ctx),
    selectHours(ctx, first),
  ]);
  const hours = Array.from({ length: HOURS_SHOWN }, (_, index) => {
    const hour = first + index * HOUR_MS;
    const row = rows.find((candidate) => candidate.hour === hour);
    const { events = 0, runs = 0, failedRuns = 0 } = row ?? {};
    return { at: presentTime(hour), events, runs, failed_runs: failedRuns };
  });
  const sum = (field: "events" | "runs" | "failed_runs") =>
    hours.reduce((total, hour) => total + hour[field], 0);
  return {
    rooms_total: rooms?.total ?? 0,
    rooms_online: rooms?.online ?? 0,
    participants_online: rooms?.participants ?? 0,
    users_total: users?.total ?? 0,
    first_joined_at: rooms?.firstJoinAt == null ? null : presentTime(rooms.firstJoinAt),
    events_last_day: sum("events"),
    runs_last_day: sum("runs"),
    failed_runs_last_day: sum("failed_runs"),
    hours,
  };
}

/** Deletes the counts of hours that no chart shows any more. */
export const deleteOldHourlyCounts = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteHours(hourOf(now) - HOURS_KEPT * HOUR_MS)]);
