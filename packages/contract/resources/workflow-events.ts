/** The events that start a workflow, and the one that reports its end. The SDK infers its types from it. */
import * as z from "zod";
import { Timestamp } from "../time.ts";
import { Event } from "./events.ts";

/** The service has disabled a workflow: its runs had to be killed, or too much waited for it. */
export const WorkflowDisabledEvent = z
  .object({
    id: z.uuid().meta({ description: "The same for every subscriber and attempt." }),
    event: z.literal("workflow.disabled"),
    timestamp: Timestamp,
    data: z.object({
      workflowId: z.uuid(),
      reason: z.enum(["killed", "backlogged"]).meta({
        description:
          "`killed` when two runs in a row had to be killed because they passed a limit; `backlogged` when too many events waited.",
      }),
    }),
    workflow: z.object({ id: z.uuid(), name: z.string() }),
  })
  .meta({ id: "WorkflowDisabledEvent" });
export type WorkflowDisabledEvent = z.infer<typeof WorkflowDisabledEvent>;

/** Fields of the events that concern a workflow and start it. */
const started = {
  id: z.uuid().meta({ description: "The same for every attempt; the id of an event that is repeated." }),
  timestamp: Timestamp.meta({ description: "When the run was asked for." }),
  workflow: z.object({ id: z.uuid(), name: z.string() }),
};
const ownRoomId = z
  .string()
  .nullable()
  .meta({ description: "The workflow's room, which its bindings reach; null for a workflow of all rooms." });

/** The workflow's schedule runs it. After a stop of the service it comes once, for the latest of the times missed. */
export const WorkflowScheduledEvent = z
  .object({
    ...started,
    event: z.literal("workflow.scheduled"),
    data: z.object({
      workflowId: z.uuid(),
      roomId: ownRoomId,
      scheduledAt: Timestamp.meta({ description: "The time of the schedule that the run is for." }),
    }),
  })
  .meta({ id: "WorkflowScheduledEvent" });
export type WorkflowScheduledEvent = z.infer<typeof WorkflowScheduledEvent>;

/** A request to the workflow's HTTP trigger runs it. */
export const WorkflowTriggeredEvent = z
  .object({
    ...started,
    event: z.literal("workflow.triggered"),
    data: z.object({
      workflowId: z.uuid(),
      roomId: ownRoomId,
      messageId: z.string().nullable().meta({
        description:
          "The `webhook-id` or the `Idempotency-Key` of the request, by which it runs once; null without one.",
      }),
      payload: z.unknown().meta({ description: "The JSON body of the request; null without one." }),
    }),
  })
  .meta({ id: "WorkflowTriggeredEvent" });
export type WorkflowTriggeredEvent = z.infer<typeof WorkflowTriggeredEvent>;

export const WorkflowEvent = z
  .union([Event, WorkflowScheduledEvent, WorkflowTriggeredEvent])
  .meta({ id: "WorkflowEvent" });
export type WorkflowEvent = z.infer<typeof WorkflowEvent>;
