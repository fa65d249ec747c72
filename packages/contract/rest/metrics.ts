/** An organization's overview and usage on the wire. */

import * as z from "zod";
import { Timestamp } from "../time.ts";

const Count = z.int().meta({ minimum: 0 });

const activity = {
  events: Count.meta({ description: "Events in the log, of rooms, users, comments, files and stores." }),
  runs: Count.meta({ description: "Workflow runs." }),
  failed_runs: Count,
};

const before = z.object(activity).meta({
  description: "The counts of the same length of time before, to compare with.",
});

export const Hour = z
  .object({ at: Timestamp.meta({ description: "The start of the hour." }), ...activity })
  .meta({
    id: "Hour",
    example: { at: "2026-01-31T09:00:00.000Z", events: 12, runs: 2, failed_runs: 0 },
  });
export type Hour = z.infer<typeof Hour>;

export const Overview = z.object({
  rooms_total: Count.meta({ example: 3 }),
  rooms_online: Count.meta({ description: "Rooms with at least one participant.", example: 1 }),
  participants_online: Count.meta({ example: 2 }),
  users_total: Count.meta({ example: 8 }),
  first_joined_at: Timestamp.nullable().meta({
    description: "When a user first joined one of the rooms; `null` before that.",
    example: "2026-01-31T09:45:00.000Z",
  }),
  events_last_day: Count.meta({ description: "The sum over `hours`.", example: 12 }),
  runs_last_day: Count.meta({ example: 2 }),
  failed_runs_last_day: Count.meta({ example: 0 }),
  before,
  hours: z.array(Hour).meta({ description: "The last 24 hours; the current one comes last." }),
});
export type Overview = z.infer<typeof Overview>;

const Range = z.enum(["1h", "24h", "7d", "30d"]);

export const UsageQuery = z.object({
  range: Range.default("24h").meta({
    description: "How far back: in points of 5 minutes, an hour, 6 hours or a day.",
  }),
});

const Activity = z.object({
  at: Timestamp.meta({ description: "When the point begins." }),
  ...activity,
});
export type Activity = z.infer<typeof Activity>;

export const Usage = z
  .object({
    range: Range,
    point_seconds: Count.meta({ description: "The length of a point.", example: 3600 }),
    ...activity,
    before,
    points: z.array(Activity).meta({ description: "The parts of the range; the current one comes last." }),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;
