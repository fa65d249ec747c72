/** Presents the event that the service has disabled a workflow: it concerns no room, and only webhooks can receive it. */
import { presentTime } from "../../platform/time.ts";
import type { WorkflowDisabledEvent } from "../../wire/workflow-events.ts";

/** The event as JSON. */
export function presentWorkflowDisabled(
  eventId: string,
  now: number,
  workflow: WorkflowDisabledEvent["workflow"],
  reason: WorkflowDisabledEvent["data"]["reason"],
): string {
  const event: WorkflowDisabledEvent = {
    id: eventId,
    event: "workflow.disabled",
    timestamp: presentTime(now),
    data: { workflowId: workflow.id, reason },
    workflow,
  };
  return JSON.stringify(event);
}
