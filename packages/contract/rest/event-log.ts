/** The event log on the wire. The SDK infers its types from it. */

import * as z from "zod";
import {
  AgentMentionedEvent,
  Event,
  EventOfIdentity,
  GroupEvent,
  WebhookEventName,
} from "../resources/events.ts";
import { WorkflowDisabledEvent } from "../resources/workflow-events.ts";
import { dates, paging } from "./lists.ts";
import { WebhookBackloggedEvent } from "./webhooks.ts";

const continuation = {
  cursor: z.string().meta({
    description: "Continue with it as `after`. It is there on an empty page too: later events follow it.",
    example: "MS4xYmNkZmcuNC4w",
  }),
  has_more: z.boolean().meta({
    description: "Whether more may follow at once; a page may have fewer events than `limit`.",
  }),
};

const EMPTY = { events: [], cursor: "MS4xYmNkZmcuNC4w", has_more: false };

export const EventPage = z
  .object({
    events: z
      .array(z.union([Event, EventOfIdentity, GroupEvent, WebhookBackloggedEvent, WorkflowDisabledEvent]))
      .meta({
        description:
          "The events as webhooks receive them, with the same ids. Events of one room are in the order in which they happened.",
      }),
    ...continuation,
  })
  .meta({ id: "EventPage", example: EMPTY });
export type EventPage = z.infer<typeof EventPage>;

export const MentionPage = z
  .object({
    events: z.array(AgentMentionedEvent).meta({
      description: "The mentions, as a webhook of the agent receives them, with the same ids. Oldest first.",
    }),
    ...continuation,
  })
  .meta({ id: "MentionPage", example: EMPTY });
export type MentionPage = z.infer<typeof MentionPage>;

const Cursor = z.string().max(256);

export const EventLogQuery = z.object({
  limit: paging.limit,
  after: Cursor.optional().meta({
    description: "The `cursor` of an earlier page: only events that follow it. `now`: only later ones.",
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

export const MentionQuery = EventLogQuery.omit({ events: true });
