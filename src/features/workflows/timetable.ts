/** The timetable of a workflow with a schedule. */

import { presentEvent } from "@atrium/contract/resources/present-event.ts";
import type { WorkflowScheduledEvent } from "@atrium/contract/resources/workflow-events.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import type { Timetable } from "../../delivery/subscriber/handler.ts";
import { derivedId } from "../../platform/crypto/encoding.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { lazily } from "../../platform/lazily.ts";
import { selectWorkflowSummary } from "./store.ts";
import type { WorkflowRow } from "./table.ts";

const schedules = lazily(() => import("./schedule.ts"));

/** Always asks the database: a workflow that was disabled or changed a moment ago must not run by its old schedule. */
export const timetableOf =
  (tenant: Tenant, workflowId: string): Timetable =>
  async (plannedAt, now) => {
    const [[row]] = await tenant.db.run([selectWorkflowSummary(tenant, workflowId)]);
    if (row === undefined) return null;
    const { isSlot, latestSlot, nextSlot, parseSchedule } = await schedules();
    const schedule = row.enabled === 1 ? parseSchedule(row.schedule) : null;
    if (schedule === null) return { event: null, nextAt: null };
    const nextAt = nextSlot(schedule, now);
    if (plannedAt === null || !isSlot(schedule, plannedAt)) return { event: null, nextAt };
    return { event: await scheduledEvent(row, latestSlot(schedule, plannedAt, now), now), nextAt };
  };

/** The event of a slot. The workflow and the time give its ID, so that each slot has one event. */
async function scheduledEvent(
  { accountId, id, name, roomId }: Omit<WorkflowRow, "code">,
  slot: number,
  now: number,
): Promise<OutgoingEvent> {
  const eventId = await derivedId([accountId, id, "schedule", slot]);
  const draft = {
    event: "workflow.scheduled",
    data: { workflowId: id, roomId, scheduledAt: presentTime(slot) },
    workflow: { id, name },
  } as const satisfies Omit<WorkflowScheduledEvent, "id" | "timestamp">;
  const body = presentEvent(eventId, now, draft);
  return { eventId, event: draft.event, roomId: roomId ?? "", occurredAt: now, body };
}
