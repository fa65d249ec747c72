/** Deliveries and replays of a webhook on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { WebhookEventName } from "../resources/events.ts";
import { Timestamp, timeInput } from "../time.ts";
import { TRACED } from "./deliveries.ts";

export const DeliveryStatus = z.enum(["pending", "success", "failed"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

const StatusCode = z
  .int()
  .nullable()
  .meta({ description: "The HTTP status of the response; null without a response." });

/** Headers by name, in lower case; up to 2 KiB. */
const Headers = z.record(z.string(), z.string());

export const DeliveryAttempt = z.object({
  attempted_at: Timestamp,
  duration_ms: z.number().meta({ minimum: 0, example: 82 }),
  status_code: StatusCode,
  error_class: z.string().nullable().meta({
    description:
      "The stage that failed: `target`, `dns`, `connect`, `tls`, `timeout`, `redirect`, `status` or `body`; null after a success.",
    example: "status",
  }),
  error: z.string().nullable().meta({
    description: "What failed, in words; null after a success.",
    example: "The receiver answered 503",
  }),
  answer: z
    .string()
    .nullable()
    .meta({ description: "The first 4 KiB of the response's body.", example: "Try later" }),
  request_headers: Headers.optional().meta({
    description: "The headers of the request, without its signature. Absent when none was sent.",
    example: { "webhook-id": "0b5f6c1e-7d2a-4c3b-8e9f-1a2b3c4d5e6f" },
  }),
  response_headers: Headers.optional().meta({
    description: "The headers of the response, without credentials and cookies. Absent without a response.",
    example: { "content-type": "text/plain" },
  }),
  events: z
    .int()
    .optional()
    .meta({ description: "How many events its batch had. Absent outside of batches." }),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

export const Delivery = z
  .object({
    id: z.uuid(),
    webhook_id: z.uuid(),
    event: WebhookEventName,
    payload: z.string().meta({ description: "The request body, JSON." }),
    status: DeliveryStatus.meta({
      description: "`pending` until an attempt succeeds or no further one follows.",
    }),
    attempts: z.int().meta({ minimum: 0 }),
    last_attempt_at: Timestamp.nullable(),
    next_retry_at: Timestamp.nullable().meta({ description: "null when no retry follows." }),
    status_code: StatusCode.meta({
      description: "The HTTP status of the latest attempt; null without a response.",
    }),
    error: z
      .string()
      .nullable()
      .meta({ description: "Why the latest attempt failed; null if it succeeded." }),
    created_at: Timestamp,
    ...TRACED,
    log: z.array(DeliveryAttempt).meta({ description: "The attempts, oldest first." }),
  })
  .meta({
    id: "Delivery",
    example: {
      id: "c1a4b7d2-3e5f-4a60-9b8c-0d1e2f3a4b5c",
      webhook_id: "5d2c8e1a-93b4-4f0e-8a6d-7c1f2b3e4d50",
      event: "participant.joined",
      payload: '{"id":"0b5f…","event":"participant.joined","timestamp":"2026-01-31T09:31:00.000Z", …}',
      status: "pending",
      attempts: 1,
      last_attempt_at: "2026-01-31T09:31:00.020Z",
      next_retry_at: "2026-01-31T09:31:05.300Z",
      status_code: 503,
      error: "The receiver answered 503",
      created_at: "2026-01-31T09:31:00.000Z",
      request_id: "6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6",
      log: [
        {
          attempted_at: "2026-01-31T09:31:00.020Z",
          duration_ms: 82,
          status_code: 503,
          error_class: "status",
          error: "The receiver answered 503",
          answer: "Try later",
        },
      ],
    },
  });
export type Delivery = z.infer<typeof Delivery>;

export const Redelivery = z
  .strictObject({
    ids: z.array(z.uuid()).min(1).max(100).meta({ description: "Of deliveries; duplicates count once." }),
  })
  .meta({ id: "Redelivery", example: { ids: ["c1a4b7d2-3e5f-4a60-9b8c-0d1e2f3a4b5c"] } });
export type Redelivery = z.infer<typeof Redelivery>;

export const RedeliveryResult = z.object({
  redelivered: z.int().meta({ description: "How many new deliveries there are." }),
  missing: z.array(z.string()).meta({ description: "The ids of deliveries that are not kept." }),
});
export type RedeliveryResult = z.infer<typeof RedeliveryResult>;

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
        "Only events whose deliveries are kept and have this status. With `failed`, also those whose latest attempt was in the span; and all deliveries that wait for a retry are tried at once, whenever their events happened. Without it, all events in the log.",
    }),
  })
  .meta({ id: "ReplayCreation", example: { from: "2026-01-31T14:00:00Z", to: "2026-01-31T16:00:00Z" } });
export type ReplayCreation = z.infer<typeof ReplayCreation>;
export type ReplayInput = z.input<typeof ReplayCreation>;

export const Replay = z
  .object({
    id: z.uuid().meta({ description: "In the header `Atrium-Replay` of every request that it causes." }),
    from: Timestamp,
    to: Timestamp,
    status: z.enum(["success", "failed"]).nullable(),
    state: z.enum(["running", "finished"]).meta({
      description:
        "`finished` once all of its deliveries are in the webhook's queue, and the retries are due.",
    }),
    deliveries: z.int().meta({
      description: "How many deliveries it has created so far, and how many retries it has brought forward.",
      minimum: 0,
    }),
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
