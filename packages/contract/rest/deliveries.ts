/** The stats, traces and pages of deliveries, of webhooks and workflows, on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { Timestamp } from "../time.ts";

const StatsRange = z.enum(["1h", "24h", "7d", "30d"]);

export const StatsQuery = z.object({
  range: StatsRange.default("24h").meta({
    description: "How far back: in points of 1 minute, 15 minutes, 2 hours or 6 hours.",
  }),
});

/** The parameter of a list that adds each item's totals. */
export const totalling = {
  stats: StatsRange.optional().meta({
    description: "Adds `stats` to each: its attempts in so much time, and what waits now.",
  }),
};

const latency = z
  .number()
  .nullable()
  .meta({ description: "Milliseconds, at most a quarter too high; null without an attempt.", example: 80 });
const metrics = {
  succeeded: z.int().meta({ description: "Attempts that succeeded.", minimum: 0, example: 96 }),
  failed: z.int().meta({ description: "Attempts that failed, retries included.", minimum: 0, example: 4 }),
  success_rate: z.number().nullable().meta({
    description: "The share of attempts that succeeded, from 0 to 1; null without one.",
    example: 0.96,
  }),
  latency_ms: z.object({ p50: latency, p95: latency, p99: latency }),
};

export const DeliveryTotals = z
  .object({
    range: StatsRange,
    ...metrics,
    waiting: z.int().meta({ description: "How many deliveries wait now.", minimum: 0, example: 2 }),
    waiting_bytes: z.int().meta({ description: "What they take on disk.", minimum: 0, example: 3200 }),
    oldest_waiting_since: Timestamp.nullable().meta({
      description: "When the oldest waiting event occurred; `null` when none waits.",
    }),
    failing: z
      .object({
        since: Timestamp.meta({ description: "When the first of them failed." }),
        error: z.string().meta({
          description: "Why the latest one failed, in one line.",
          example: "The receiver refused the connection",
        }),
        next_attempt_at: Timestamp.nullable().meta({
          description: "When the next one may start; null when nothing waits.",
        }),
      })
      .nullable()
      .meta({
        description:
          "The attempts since the latest success, all of which failed; null after a success, and before the first attempt.",
      }),
    last_success_at: Timestamp.nullable().meta({
      description:
        "When the attempt began that delivered the newest event of those delivered and kept; null without one.",
    }),
  })
  .meta({ id: "DeliveryTotals" });
export type DeliveryTotals = z.infer<typeof DeliveryTotals>;

export const DeliveryStats = DeliveryTotals.extend({
  points: z.array(
    z.object({
      at: Timestamp.meta({ description: "When the point begins." }),
      ...metrics,
      waiting: z
        .int()
        .meta({ description: "The most that waited when an attempt ended.", minimum: 0, example: 5 }),
    }),
  ),
}).meta({ id: "DeliveryStats" });
export type DeliveryStats = z.infer<typeof DeliveryStats>;

export const TRACED = {
  request_id: z.string().optional().meta({
    description:
      "The ID of the request that caused the event; of what a WebSocket did, that of the request that opened it. Absent when no single request did.",
  }),
  frame_id: z.string().optional().meta({
    description: "The `requestId` of the WebSocket's message that caused it, at most 128 characters of it.",
  }),
};
