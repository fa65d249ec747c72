/** Presents the events that start a workflow by itself: no other subscriber receives them. */

import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import type { Timetable, TimetableReading } from "../../delivery/subscriber/handler.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import { storeTrace } from "../../platform/trace.ts";
import { presentEvent } from "../../wire/events.ts";
import { presentRoom } from "../../wire/room.ts";
import { presentUser } from "../../wire/user.ts";
import type { WorkflowScheduledEvent, WorkflowTriggeredEvent } from "../../wire/workflow-events.ts";
import { sampleDraft } from "../deliveries/sample-draft.ts";
import { selectRoom } from "../rooms/statements.ts";
import { selectUsersPage } from "../users/queries.ts";
import { selectUser } from "../users/statements.ts";
import type { WorkflowContext } from "./context.ts";
import type { WorkflowRun } from "./execution-schema.ts";
import { isSlot, latestSlot, nextSlot, parseSchedule } from "./schedule.ts";
import { selectWorkflowSummary } from "./store.ts";
import type { WorkflowRow } from "./table.ts";

/** The event that the workflow's schedule runs it, as JSON; `roomId` is the workflow's room. Times are epoch ms. */
function presentWorkflowScheduled(
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

/** A UUID of version 8, whose other bits RFC 9562 leaves to the application. */
export async function derivedId(parts: readonly (string | number)[]): Promise<string> {
  const hash = await sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}

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

/** How many users a `session.closed` event shows: the newest ones. */
const MAX_USERS = 100;
const NEWEST = { limit: MAX_USERS, offset: 0, search: "", from: 0, to: Number.MAX_SAFE_INTEGER };

/**
 * The event's own id, and its session or comment, are made up; everything else is real. NOT_FOUND when the workflow, the room or
 * the user does not exist; null when the workflow is disabled. Costs one D1 round trip and one object call.
 */
export async function trialEvent(
  ctx: WorkflowContext,
  workflowId: string,
  { event, data: { roomId, userId } }: WorkflowRun,
): Promise<OutgoingEvent | null> {
  const [newestUsers] = await selectUsersPage(ctx, { roomId }, NEWEST);
  const [[workflow], [room], [user], newest] = await ctx.db.run([
    selectWorkflowSummary(ctx, workflowId),
    selectRoom(ctx, { id: roomId }),
    selectUser(ctx, roomId, { id: userId ?? "" }),
    newestUsers,
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (workflow.enabled === 0) return null;
  if (room === undefined) throw notFound("Rooms", "Room");
  if (user === undefined && userId !== undefined) throw notFound("Users", "User");
  const users = user === undefined ? newest : [user];
  const live = await ctx.rooms.read(
    room.id,
    ctx.accountId,
    users.map(({ id }) => id),
  );
  const [eventId, now] = [await eventIdFor(ctx, workflowId), ctx.now()];
  const draft = sampleDraft(event, {
    room: presentRoom(room, now, live.stats),
    users: users.map((row) => presentUser(row, live.lastSeen[row.id])),
    now,
    origin: ctx.origin,
    newId: ctx.newId,
  });
  const body = presentEvent(eventId, now, draft);
  return { eventId, event, roomId: room.id, body, occurredAt: now, trace: storeTrace(ctx.trace) };
}

/** All requests with one Idempotency-Key share an event id, so only one of them runs. */
async function eventIdFor(
  { accountId, idempotencyKey, newId }: WorkflowContext,
  workflowId: string,
): Promise<string> {
  if (idempotencyKey === null) return newId();
  return derivedId([accountId, workflowId, idempotencyKey]);
}
