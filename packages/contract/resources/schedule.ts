/** Schedules of workflows on the wire. */

import * as z from "zod";
import { text } from "../text.ts";

const EXAMPLE = { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" } as const;

export const Schedule = z
  .object({
    cron: z.string().meta({
      description: "Minute, hour, day of the month, month and day of the week, as in a crontab.",
    }),
    timezone: z.string().meta({ description: "The IANA name of the time zone in which `cron` is read." }),
  })
  .meta({ id: "Schedule", example: EXAMPLE });
export type Schedule = z.infer<typeof Schedule>;

export const ScheduleInput = z
  .strictObject({
    cron: text(1, 100).meta({
      description:
        "Five fields: minute, hour, day of the month, month and day of the week. Each is `*`, a number, a name such as `MON`, a list, a range or a step such as `*/15`. If both days are given, either one suffices.",
      example: EXAMPLE.cron,
    }),
    timezone: text(1, 64).optional().meta({
      description: "The IANA name of the time zone in which `cron` is read. `UTC` by default.",
      example: EXAMPLE.timezone,
    }),
  })
  .meta({ id: "ScheduleInput", example: EXAMPLE });
export type ScheduleInput = z.infer<typeof ScheduleInput>;
