/** Presents the events that start a workflow by itself: no other subscriber receives them. */
import { presentTime } from "../../platform/time.ts";
import type { WorkflowScheduledEvent, WorkflowTriggeredEvent } from "../../wire/workflow-events.ts";

/** The event that the workflow's schedule runs it, as JSON; `roomId` is the workflow's room. Times are epoch ms. */
export function presentWorkflowScheduled(
  eventId: string,
  now: number,
  workflow: WorkflowScheduledEvent["workflow"],
  roomId: string | null,
  scheduledAt: number,
): string {
  const event: WorkflowScheduledEvent = {
    id: eventId,
    event: "workflow.scheduled",
    timestamp: presentTime(now),
    data: { workflowId: workflow.id, roomId, scheduledAt: presentTime(scheduledAt) },
    workflow,
  };
  return JSON.stringify(event);
}

/** The event that a request runs the workflow, as JSON. `now` is in epoch ms. */
export function presentWorkflowTriggered(
  eventId: string,
  now: number,
  workflow: WorkflowTriggeredEvent["workflow"],
  { roomId, messageId, payload }: Omit<WorkflowTriggeredEvent["data"], "workflowId">,
): string {
  const event: WorkflowTriggeredEvent = {
    id: eventId,
    event: "workflow.triggered",
    timestamp: presentTime(now),
    data: { workflowId: workflow.id, roomId, messageId, payload },
    workflow,
  };
  return JSON.stringify(event);
}
