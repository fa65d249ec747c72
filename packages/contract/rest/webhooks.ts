/** Webhooks on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { WebhookEventName } from "../resources/events.ts";
import { text, updateOf } from "../text.ts";
import { Timestamp } from "../time.ts";
import { DeliveryTotals } from "./deliveries.ts";

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
    identity_id: z.uuid().optional().meta({
      description: "The agent whose mentions alone it receives. Absent for a webhook of no identity.",
    }),
    batch: z
      .object({
        max_events: z.int().meta({ description: "The number of events in a batch, at most." }),
        max_wait_ms: z.int().meta({
          description: "How long the first event of a batch waits for others, in milliseconds.",
        }),
      })
      .optional()
      .meta({
        description:
          "How its events are put together in batches. Absent while each has a request of its own.",
      }),
    enabled: z.boolean().meta({
      description:
        "A disabled webhook receives nothing. The service disables a webhook whose endpoint answers 410, fails for five days, fails 50 times without ever answering 2xx, or is so slow that the backlog becomes too large.",
    }),
    disabled_reason: z.string().optional().meta({
      description: "Why the service has disabled the webhook, and what to do. Absent in every other case.",
      example: "The receiver answered 410 Gone. Enable the webhook again when it should receive events.",
    }),
    backlogged_since: Timestamp.optional().meta({
      description:
        "The time since when the backlog is high: a tenth or more of the backlog at which the service disables the webhook (5 GiB, 7 days for the oldest event, or an equal part of the quota of waiting events). Absent while the webhook keeps up. Other webhooks that listen to `webhook.backlogged` are notified.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook", example: EXAMPLE });
export type Webhook = z.infer<typeof Webhook>;

export const ListedWebhook = Webhook.extend({
  stats: DeliveryTotals.optional().meta({ description: "Only for a list with the parameter `stats`." }),
}).meta({ id: "ListedWebhook", example: EXAMPLE });
export type ListedWebhook = z.infer<typeof ListedWebhook>;

/** A webhook has a high backlog, because its receiver fails or is slow; with `webhook.enabled` false it was disabled. */
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
const IdentityId = text(1, 255);

/** The field that a webhook of an agent cannot have like this, and why; null if there is none. */
export function findProblemOfAgent({
  events,
  batch,
}: Partial<Pick<WebhookUpdate, "events" | "batch">>): { path: string[]; message: string } | null {
  if (events?.some((name) => name !== "agent.mentioned"))
    return { path: ["events"], message: "must be agent.mentioned alone for a webhook with identityId" };
  if (batch) return { path: ["batch"], message: "must be absent for a webhook with identityId" };
  return null;
}

const MAX_BATCH_EVENTS = 100;
const Batch = z
  .strictObject({
    maxEvents: z
      .int()
      .min(1)
      .max(MAX_BATCH_EVENTS)
      .meta({ description: "A batch with so many is sent at once." }),
    maxWaitMs: z.int().min(0).max(60_000).meta({
      description: "How long the first event of a batch waits for more, in milliseconds.",
    }),
  })
  .nullable()
  .optional()
  .meta({
    description:
      "Sends several events in one request, as a JSON array in the order of each room, one request at a time. Omit it, or use null, for a request for each event.",
  });

export const WebhookCreation = z
  .strictObject({
    url: Url,
    events: Events,
    roomId: RoomId.nullable().optional().meta({ description: "Omit it, or use null, for all rooms." }),
    identityId: IdentityId.nullable().optional().meta({
      description:
        "Omit it, or use null, for none. An identity of kind `agent`: the webhook receives its mentions alone, one in each request, and ends with it. Then `events` is `agent.mentioned`, and there is no `batch`. It cannot be changed later.",
    }),
    batch: Batch,
    enabled: z.boolean().default(true),
  })
  .superRefine(({ identityId, ...rest }, { addIssue }) => {
    const problem = identityId == null ? null : findProblemOfAgent(rest);
    if (problem !== null) addIssue({ code: "custom", ...problem });
  })
  .meta({
    id: "WebhookCreation",
    example: { url: EXAMPLE.url, events: [...EXAMPLE.events], roomId: EXAMPLE.room_id },
  });
export type WebhookCreation = z.infer<typeof WebhookCreation>;
export type WebhookInput = z.input<typeof WebhookCreation>;

export const WebhookUpdate = updateOf({
  url: Url.optional(),
  events: Events.optional(),
  roomId: RoomId.nullable().optional().meta({ description: "null means all rooms." }),
  batch: Batch,
  enabled: z.boolean().optional(),
}).meta({ id: "WebhookUpdate", example: { enabled: false } });
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;
export type WebhookUpdateInput = z.input<typeof WebhookUpdate>;
