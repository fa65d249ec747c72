/** The query of a read of the event log. Its parameters become other types, which the SDK does not need. */
import * as z from "zod";
import { dates, paging } from "../../http/lists/paginate.ts";
import { WebhookEventName } from "../../wire/event-name.ts";

const Cursor = z.string().max(256);

/** The query parameters of a read. */
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
export type EventLogQuery = z.infer<typeof EventLogQuery>;
