/** The event log on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { Event, EventOfIdentity, GroupEvent, WebhookEventName } from "../resources/events.ts";
import { WorkflowDisabledEvent } from "../resources/workflow-events.ts";
import { dates, paging } from "./lists.ts";
import { WebhookBackloggedEvent } from "./webhooks.ts";

export const EventPage = z
  .object({
    events: z
      .array(z.union([Event, EventOfIdentity, GroupEvent, WebhookBackloggedEvent, WorkflowDisabledEvent]))
      .meta({
        description:
          "The events as webhooks receive them, with the same ids. Events of one room are in the order in which they happened.",
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

const Cursor = z.string().max(256);

export const EventLogQuery = z.object({
  limit: paging.limit,
  after: Cursor.optional().meta({
    description: "The `cursor` of an earlier page: only events that follow it.",
    example: "MS4xYmNkZmcuNC4w",
  }),
  from: dates.from.meta({
    description:
      "Without `after`: only events that were recorded at or after this time. A date without a time is the start of that UTC day.",
    override: { type: "string", example: "2026-01-31" },
  }),
  events: z
    .array(WebhookEventName)
    .default([])
    .meta({
      description: "Only these events. Repeat it for several; without it, all.",
      example: ["user.created"],
    }),
});
