/** What creates and updates a webhook on the wire. The SDK infers its types from it. */
import * as z from "zod";
import { text } from "../../platform/text.ts";
import { WebhookEventName } from "../../wire/event-name.ts";
import { EXAMPLE } from "./schema.ts";

const Url = text(1, 2048).meta({
  description:
    "An https URL with a public host name, on port 443 or 8443, without credentials or fragment. IP addresses, internal names and this service itself are refused.",
  format: "uri",
});
const Events = z.array(WebhookEventName).min(1).meta({ description: "At least one; duplicates count once." });
const RoomId = text(1, 255);

/** The most events that one request may have. */
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

/** Body of `POST /webhooks`. */
export const WebhookCreation = z
  .strictObject({
    url: Url,
    events: Events,
    roomId: RoomId.nullable().optional().meta({ description: "Omit it, or use null, for all rooms." }),
    batch: Batch,
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
  .strictObject({
    url: Url.optional(),
    events: Events.optional(),
    roomId: RoomId.nullable().optional().meta({ description: "null means all rooms." }),
    batch: Batch,
    enabled: z.boolean().optional(),
  })
  .refine(
    (update) => Object.keys(update).length > 0,
    "at least one of url, events, roomId, batch, enabled is required",
  )
  .meta({ id: "WebhookUpdate", example: { enabled: false }, minProperties: 1 });
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;
export type WebhookUpdateInput = z.input<typeof WebhookUpdate>;
