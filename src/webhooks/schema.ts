/** Webhooks and deliveries on the wire, and how they are presented. The SDK infers its types from it. */
import * as z from "zod";
import { WebhookEventName } from "../delivery/port/event-name.ts";
import type { ReplayRecord } from "../delivery/port/replay.ts";
import type { DeliveryRecord } from "../delivery/port/subscriber-port.ts";
import { text } from "../platform/text.ts";
import { parseTime, presentTime, Timestamp } from "../platform/time.ts";
import { MAX_UNPROVEN_FAILURES } from "./receiver-health.ts";
import type { DisabledReason, WebhookRow } from "./table.ts";

const EXAMPLE = {
  id: "5d2c8e1a-93b4-4f0e-8a6d-7c1f2b3e4d50",
  organization_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
  url: "https://hooks.example.com/atrium",
  events: ["participant.joined", "participant.left"],
  room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
  enabled: true,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
} as const;

/** A webhook without its secret (spec section 2). */
export const Webhook = z
  .object({
    id: z.uuid(),
    organization_id: z.uuid(),
    url: z.string().meta({ description: "The URL that events are posted to." }),
    events: z.array(WebhookEventName).meta({ description: "The events it receives." }),
    room_id: z
      .string()
      .nullable()
      .meta({ description: "The room whose events it receives; null for all rooms." }),
    enabled: z.boolean().meta({
      description:
        "A disabled webhook receives nothing. An endpoint that answers 410, fails for five days, fails 50 times without ever answering 2xx, or is so slow that too much waits for it disables its webhook.",
    }),
    disabled_reason: z.string().optional().meta({
      description: "Why the service has disabled the webhook, and what to do. Absent in every other case.",
      example: "The receiver answered 410 Gone. Enable the webhook again when it should receive events.",
    }),
    backlogged_since: Timestamp.optional().meta({
      description:
        "Since when much waits: at least a tenth of what may wait before the service disables the webhook (5 GiB, or 7 days for the oldest). Absent while the webhook keeps up. Other webhooks that listen to `webhook.backlogged` are notified.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook", example: EXAMPLE });
export type Webhook = z.infer<typeof Webhook>;

/** Much waits for a webhook, because its receiver fails or is slow; with `webhook.enabled` false it was disabled. */
export const WebhookBackloggedEvent = z
  .object({
    id: z.uuid().meta({ description: "The same for every subscriber and attempt." }),
    event: z.literal("webhook.backlogged"),
    timestamp: Timestamp,
    data: z.object({
      webhookId: z.uuid(),
      waiting: z.int().meta({ description: "How many events wait." }),
      waitingBytes: z.int().meta({ description: "What they take on disk." }),
      oldestWaitingSince: Timestamp.nullable(),
    }),
    webhook: Webhook,
  })
  .meta({ id: "WebhookBackloggedEvent" });
export type WebhookBackloggedEvent = z.infer<typeof WebhookBackloggedEvent>;

/** A webhook in the response to its creation, or to a rotation of its secret. */
export const WebhookWithSecret = Webhook.extend({
  secret: z.string().meta({
    description: "Signs deliveries as Standard Webhooks defines it. Shown here and never again.",
  }),
}).meta({
  id: "WebhookWithSecret",
  example: { ...EXAMPLE, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDlpCZx3zH0mE=" },
});
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

const Url = text(1, 2048).meta({
  description:
    "An https URL with a public host name, on port 443 or 8443, without credentials or fragment. IP addresses, internal names and this service itself are refused.",
  format: "uri",
});
const Events = z.array(WebhookEventName).min(1).meta({ description: "At least one; duplicates count once." });
const RoomId = text(1, 255);

/** Body of `POST /webhooks`. */
export const WebhookCreation = z
  .object({
    url: Url,
    events: Events,
    roomId: RoomId.nullable().optional().meta({ description: "Omit it, or use null, for all rooms." }),
    enabled: z.boolean().default(true),
  })
  .meta({
    id: "WebhookCreation",
    example: { url: EXAMPLE.url, events: [...EXAMPLE.events], roomId: EXAMPLE.room_id },
  });
export type WebhookCreation = z.infer<typeof WebhookCreation>;
export type WebhookInput = z.input<typeof WebhookCreation>;

/** Body of `PATCH /webhooks/:webhookId`: at least one field. */
export const WebhookUpdate = z
  .object({
    url: Url.optional(),
    events: Events.optional(),
    roomId: RoomId.nullable().optional().meta({ description: "null means all rooms." }),
    enabled: z.boolean().optional(),
  })
  .refine(
    (update) => Object.keys(update).length > 0,
    "at least one of url, events, roomId, enabled is required",
  )
  .meta({ id: "WebhookUpdate", example: { enabled: false }, minProperties: 1 });
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;
export type WebhookUpdateInput = z.input<typeof WebhookUpdate>;

export const DeliveryStatus = z.enum(["pending", "success", "failed"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

const StatusCode = z
  .int()
  .nullable()
  .meta({ description: "The HTTP status of the response; null without a response." });

/** One attempt of a delivery. */
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
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** The delivery of one event to one webhook. */
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
    log: z.array(DeliveryAttempt).meta({ description: "The attempts, oldest first." }),
  })
  .meta({
    id: "Delivery",
    example: {
      id: "c1a4b7d2-3e5f-4a60-9b8c-0d1e2f3a4b5c",
      webhook_id: EXAMPLE.id,
      event: "participant.joined",
      payload: '{"id":"0b5f…","event":"participant.joined","timestamp":"2026-01-31T09:31:00.000Z", …}',
      status: "pending",
      attempts: 1,
      last_attempt_at: "2026-01-31T09:31:00.020Z",
      next_retry_at: "2026-01-31T09:31:05.300Z",
      status_code: 503,
      error: "The receiver answered 503",
      created_at: "2026-01-31T09:31:00.000Z",
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

const instant = (end: "from" | "to") =>
  z
    .string()
    .transform((value, context) => {
      const parsed = parseTime(value, end);
      if (parsed === null) context.addIssue("must be a date or an RFC 3339 timestamp with a time zone");
      return parsed ?? z.NEVER;
    })
    .pipe(z.number()); // so that the package can print what it becomes

/** Body of `POST /webhooks/:webhookId/replay`. */
export const ReplayCreation = z
  .object({
    from: instant("from").meta({
      description:
        "Events that happened at or after this time: RFC 3339, or a date for the start of that UTC day.",
      override: { type: "string" },
    }),
    to: instant("to")
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

/** Presents a stored webhook. */
const DISABLED_MESSAGES: Readonly<Record<DisabledReason, string>> = {
  gone: "The receiver answered 410 Gone. Enable the webhook again when it should receive events.",
  failing:
    "Every attempt has failed for five days. Make the receiver answer 2xx, then enable the webhook again: it receives what waits.",
  unproven: `The receiver has never answered 2xx, and has failed ${MAX_UNPROVEN_FAILURES} times. Make it answer 2xx, then enable the webhook again.`,
  backlogged:
    "Too many events were waiting, or the oldest for too long. Make the receiver faster, then enable the webhook again: it receives what waits.",
};

export const presentWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  organization_id: row.accountId,
  url: row.url,
  events: z.array(WebhookEventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  enabled: row.enabled === 1,
  ...(row.disabledReason === null ? {} : { disabled_reason: DISABLED_MESSAGES[row.disabledReason] }),
  ...(row.backloggedSince === null ? {} : { backlogged_since: presentTime(row.backloggedSince) }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});

const presentNullable = (epochMs: number | null): string | null =>
  epochMs === null ? null : presentTime(epochMs);

export const presentReplay = (replay: ReplayRecord): Replay => ({
  id: replay.id,
  from: presentTime(replay.from),
  to: presentTime(replay.to),
  status: replay.status,
  state: replay.endedAt === null ? "running" : "finished",
  deliveries: replay.deliveries,
  error: replay.error,
  created_at: presentTime(replay.startedAt),
  finished_at: presentNullable(replay.endedAt),
});

/** Presents a delivery to the webhook. */
export function presentDelivery(webhookId: string, delivery: DeliveryRecord): Delivery {
  const log = parseLog(delivery.log);
  return {
    id: delivery.id,
    webhook_id: webhookId,
    event: delivery.event,
    payload: delivery.body,
    status: delivery.status,
    attempts: delivery.attempts,
    last_attempt_at: presentNullable(delivery.lastAttemptAt),
    next_retry_at: delivery.attempts === 0 ? null : presentNullable(delivery.dueAt),
    status_code: log.at(-1)?.status_code ?? null,
    error: delivery.error,
    created_at: presentTime(delivery.createdAt),
    log,
  };
}

/** As the webhook's handler logged them. */
const parseLog = (log: string): DeliveryAttempt[] => JSON.parse(log) as DeliveryAttempt[];
