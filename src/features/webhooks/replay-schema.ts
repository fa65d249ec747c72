/** Replays of a webhook on the wire, and how they are presented. The SDK infers its types from it. */
import * as z from "zod";
import type { ReplayRecord } from "../../delivery/port/replay.ts";
import { presentNullableTime, presentTime, Timestamp, timeInput } from "../../platform/time.ts";

/** Body of `POST /webhooks/:webhookId/replay`. */
export const ReplayCreation = z
  .strictObject({
    from: timeInput("from").meta({
      description:
        "Events that happened at or after this time: RFC 3339, or a date for the start of that UTC day.",
      override: { type: "string" },
    }),
    to: timeInput("to")
      .optional()
      .meta({
        description: "And at or before this time, or the end of that UTC day; now by default.",
        override: { type: "string" },
      }),
    status: z.enum(["success", "failed"]).optional().meta({
      description:
        "Only events whose deliveries are kept and have this status, such as all that failed. Without it, all events in the log.",
    }),
  })
  .meta({ id: "ReplayCreation", example: { from: "2026-01-31T14:00:00Z", to: "2026-01-31T16:00:00Z" } });
export type ReplayCreation = z.infer<typeof ReplayCreation>;
export type ReplayInput = z.input<typeof ReplayCreation>;

/** A span of events that a webhook is sent again. */
export const Replay = z
  .object({
    id: z.uuid().meta({ description: "In the header `Atrium-Replay` of every request that it causes." }),
    from: Timestamp,
    to: Timestamp,
    status: z.enum(["success", "failed"]).nullable(),
    state: z.enum(["running", "finished"]).meta({
      description: "`finished` once all of its deliveries are in the webhook's queue.",
    }),
    deliveries: z.int().meta({ description: "How many deliveries it has created so far.", minimum: 0 }),
    error: z.string().nullable().meta({ description: "Why it ended early; null if it did not." }),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({
    id: "Replay",
    example: {
      id: "7f9c2e41-8b0d-4c6a-9e13-5a2d7b8c4f60",
      from: "2026-01-31T14:00:00.000Z",
      to: "2026-01-31T16:00:00.000Z",
      status: null,
      state: "finished",
      deliveries: 1204,
      error: null,
      created_at: "2026-01-31T17:00:00.000Z",
      finished_at: "2026-01-31T17:00:04.000Z",
    },
  });
export type Replay = z.infer<typeof Replay>;

export const presentReplay = (replay: ReplayRecord): Replay => ({
  id: replay.id,
  from: presentTime(replay.from),
  to: presentTime(replay.to),
  status: replay.status,
  state: replay.endedAt === null ? "running" : "finished",
  deliveries: replay.deliveries,
  error: replay.error,
  created_at: presentTime(replay.startedAt),
  finished_at: presentNullableTime(replay.endedAt),
});
