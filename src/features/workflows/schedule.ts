/** Schedules of workflows: five fields of cron in a time zone, as they are stored and as slots. */

import { AppError } from "@atrium/contract/errors.ts";
import { Schedule, type ScheduleInput } from "@atrium/contract/resources/schedule.ts";
import { MINUTE_MS } from "@atrium/contract/time.ts";
import { Cron } from "croner";

/** Start of the search for slots: any schedule that ever comes has one after it, 29 February included. */
const BEGINNING = new Date(0);

/** A list or a range of hours counts as a fixed time when clocks change, as in most crons; a step or `*` does not. */
const open = ({ cron, timezone }: Schedule): Cron =>
  new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });

/** The error in a cron expression, in words that follow its field's name; null for none. */
function findCronProblem(cron: string): string | null {
  if (cron.trim().split(/\s+/).length !== 5)
    return "must have five fields: minute, hour, day of the month, month and day of the week";
  try {
    const never = open({ cron, timezone: "UTC" }).nextRun(BEGINNING) === null;
    return never ? "must name a time that exists: this one never comes" : null;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "unknown";
    return `must be a cron expression such as 0 9 * * 1-5 (${why})`;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

/** The first slot after `after` (both epoch ms); null when there is none. */
export const nextSlot = (schedule: Schedule, after: number): number | null =>
  open(schedule).nextRun(new Date(after))?.getTime() ?? null;

export const isSlot = (schedule: Schedule, at: number): boolean => nextSlot(schedule, at - 1) === at;

/** The last slot from `first`, which is one, up to `now` (all epoch ms). Looks at few of those between. */
export function latestSlot(schedule: Schedule, first: number, now: number): number {
  let latest = first;
  let [low, high] = [Math.floor(first / MINUTE_MS), Math.floor(now / MINUTE_MS)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const next = nextSlot(schedule, middle * MINUTE_MS);
    if (next !== null && next <= now) {
      latest = next;
      low = Math.floor(next / MINUTE_MS);
    } else high = middle;
  }
  return latest;
}

/** The column of a schedule that a request gives. VALIDATION_ERROR unless it comes, in a time zone that exists. */
export function scheduleColumn(schedule: ScheduleInput | null): string | null {
  if (schedule === null) return null;
  const { cron, timezone = "UTC" } = schedule;
  const problem = findCronProblem(cron);
  if (problem !== null) throw refusal("cron", problem);
  if (!isTimeZone(timezone))
    throw refusal("timezone", "must be the IANA name of a time zone, such as Europe/Berlin or UTC");
  return JSON.stringify({ cron: cron.trim().replaceAll(/\s+/g, " "), timezone } satisfies Schedule);
}

const refusal = (field: keyof Schedule, why: string) =>
  new AppError("Workflows", "VALIDATION_ERROR", `schedule.${field}: ${why}`);

export const parseSchedule = (column: string | null): Schedule | null =>
  column === null ? null : Schedule.parse(JSON.parse(column));
