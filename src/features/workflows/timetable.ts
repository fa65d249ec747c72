/** The schedule of a workflow as its object asks for it: when the next run is due, and the event of the one that is. */

import type { OutgoingEvent } from "../../delivery/port/delivery-record.ts";
import type { Timetable, TimetableReading } from "../../delivery/port/handler.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { derivedId } from "./derived-id.ts";
import { isSlot, latestSlot, nextSlot } from "./schedule.ts";
import { parseSchedule } from "./schedule-schema.ts";
import { selectWorkflowSummary } from "./store.ts";
import type { WorkflowRow } from "./table.ts";
import { presentWorkflowScheduled } from "./workflow-started.ts";

export class WorkflowTimetable implements Timetable {
  readonly #tenant: Tenant;
  readonly #workflowId: string;

  constructor(tenant: Tenant, workflowId: string) {
    this.#tenant = tenant;
    this.#workflowId = workflowId;
  }

  /** Always asks the database: a workflow that was disabled or changed a moment ago must not run by its old schedule. */
  async read(plannedAt: number | null, now: number): Promise<TimetableReading | null> {
    const [[row]] = await this.#tenant.db.run([selectWorkflowSummary(this.#tenant, this.#workflowId)]);
    if (row === undefined) return null;
    const schedule = row.enabled === 1 ? parseSchedule(row.schedule) : null;
    if (schedule === null) return { event: null, nextAt: null };
    const nextAt = nextSlot(schedule, now);
    if (plannedAt === null || !isSlot(schedule, plannedAt)) return { event: null, nextAt };
    return { event: await scheduledEvent(row, latestSlot(schedule, plannedAt, now), now), nextAt };
  }
}

/** Its id follows from the workflow and the time, so that there is one event for each. */
async function scheduledEvent(
  { accountId, id, name, roomId }: Omit<WorkflowRow, "code">,
  slot: number,
  now: number,
): Promise<OutgoingEvent> {
  const eventId = await derivedId([accountId, id, "schedule", slot]);
  return {
    eventId,
    event: "workflow.scheduled",
    roomId: roomId ?? "",
    occurredAt: now,
    body: presentWorkflowScheduled(eventId, now, { id, name }, roomId, slot),
  };
}
