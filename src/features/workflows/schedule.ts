/** Schedules of workflows: five fields of cron in a time zone, on the wire and as slots. */
import { Cron } from "croner";
import * as z from "zod";
import { text } from "../../platform/text.ts";
import { MINUTE_MS } from "../../platform/time.ts";

/** A schedule that {@link findCronProblem} and {@link isTimeZone} accept. */
export interface Schedule {
  readonly cron: string;
  readonly timezone: string;
}

/** From here on, a schedule that ever comes has a slot: 29 February included. */
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

const EXAMPLE = { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" } as const;

export const ShownSchedule = z
  .object({
    cron: z.string().meta({
      description: "Minute, hour, day of the month, month and day of the week, as in a crontab.",
    }),
    timezone: z.string().meta({ description: "The IANA name of the time zone in which `cron` is read." }),
  })
  .meta({ id: "Schedule", example: EXAMPLE });

const CronExpression = text(1, 100).superRefine((cron, ctx) => {
  const message = findCronProblem(cron);
  if (message !== null) ctx.addIssue({ code: "custom", message });
});

const Timezone = text(1, 64).refine(
  isTimeZone,
  "must be the IANA name of a time zone, such as Europe/Berlin or UTC",
);

export const ScheduleInput = z
  .object({
    cron: CronExpression.meta({
      description:
        "Five fields: minute, hour, day of the month, month and day of the week. Each is `*`, a number, a name such as `MON`, a list, a range or a step such as `*/15`. If both days are given, either one suffices.",
      example: EXAMPLE.cron,
    }),
    timezone: Timezone.optional().meta({
      description: "The IANA name of the time zone in which `cron` is read. `UTC` by default.",
      example: EXAMPLE.timezone,
    }),
  })
  .meta({ id: "ScheduleInput", example: EXAMPLE });
export type ScheduleInput = z.infer<typeof ScheduleInput>;

export const scheduleColumn = (schedule: ScheduleInput | null): string | null =>
  schedule &&
  JSON.stringify({
    cron: schedule.cron.trim().replaceAll(/\s+/g, " "),
    timezone: schedule.timezone ?? "UTC",
  } satisfies Schedule);

export const parseSchedule = (column: string | null): Schedule | null =>
  column === null ? null : ShownSchedule.parse(JSON.parse(column));
