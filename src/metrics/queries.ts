/** The overview of an organization. */
import type { EventLogContext } from "../event-log/context.ts";
import { addHours, HOUR_MS, HOURS_KEPT, hourOf } from "../event-log/port/hourly-counts.ts";
import type { Database } from "../platform/d1.ts";
import { presentTime } from "../platform/time.ts";
import type { Overview } from "./schema.ts";
import { countUsers, deleteHours, selectHours, selectRoomTotals } from "./store.ts";

const HOURS_SHOWN = 24;

/**
 * The organization's totals, in one D1 trip, and its last 24 hours as the shards of its log have counted them. Live
 * counts may be up to a second old.
 */
export async function getOverview(ctx: EventLogContext): Promise<Overview> {
  const first = hourOf(ctx.now()) - (HOURS_SHOWN - 1) * HOUR_MS;
  const [[[rooms], [users], countedEarlier], counted] = await Promise.all([
    ctx.db.run([selectRoomTotals(ctx), countUsers(ctx), selectHours(ctx, first)]),
    ctx.eventLog.hours(ctx.accountId, first),
  ]);
  const rows = addHours([countedEarlier, counted]);
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
