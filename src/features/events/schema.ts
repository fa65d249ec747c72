/** The event log on the wire. The SDK infers its types from it. */
import * as z from "zod";
import { Event } from "../../wire/events.ts";
import { WorkflowDisabledEvent } from "../../wire/workflow-events.ts";
import { WebhookBackloggedEvent } from "../webhooks/schema.ts";

/** A page of the log. */
export const EventPage = z
  .object({
    events: z.array(z.union([Event, WebhookBackloggedEvent, WorkflowDisabledEvent])).meta({
      description:
        "The events as webhooks receive them, with the same ids. Those of a room are in the order in which they happened.",
    }),
    cursor: z.string().meta({
      description: "Continue with it as `after`. It is there on an empty page too: later events follow it.",
      example: "MS4xYmNkZmcuNC4w",
    }),
    has_more: z.boolean().meta({
      description: "Whether more may follow at once; a page may have fewer events than `limit`.",
    }),
  })
  .meta({ id: "EventPage", example: { events: [], cursor: "MS4xYmNkZmcuNC4w", has_more: false } });
export type EventPage = z.infer<typeof EventPage>;
