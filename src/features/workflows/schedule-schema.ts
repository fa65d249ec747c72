/** Schedules of workflows on the wire, and as a workflow's row holds them. */
import * as z from "zod";
import { text } from "../../platform/text.ts";
import { findCronProblem, isTimeZone, type Schedule } from "./schedule.ts";

const EXAMPLE = { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" } as const;

/** When a workflow runs by the clock, as a response shows it. */
export const ShownSchedule = z
  .object({
    cron: z.string().meta({
      description: "Minute, hour, day of the month, month and day of the week, as in a crontab.",
    }),
    timezone: z.string().meta({ description: "The IANA name of the time zone in which `cron` is read." }),
  })
  .meta({ id: "Schedule", example: EXAMPLE });

const Cron = text(1, 100).superRefine((cron, ctx) => {
  const message = findCronProblem(cron);
  if (message !== null) ctx.addIssue({ code: "custom", message });
});

const Timezone = text(1, 64).refine(
  isTimeZone,
  "must be the IANA name of a time zone, such as Europe/Berlin or UTC",
);

/** A schedule as a request has it. */
export const ScheduleInput = z
  .object({
    cron: Cron.meta({
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

/** The column of a schedule; null for none. */
export const scheduleColumn = (schedule: ScheduleInput | null): string | null =>
  schedule &&
  JSON.stringify({
    cron: schedule.cron.trim().replaceAll(/\s+/g, " "),
    timezone: schedule.timezone ?? "UTC",
  } satisfies Schedule);

/** What {@link scheduleColumn} wrote. */
export const parseSchedule = (column: string | null): Schedule | null =>
  column === null ? null : ShownSchedule.parse(JSON.parse(column));
