/** An event about a room and a user as they are now, for running a workflow by hand. */

import type { OutgoingEvent } from "../../delivery/port/delivery-record.ts";
import { notFound } from "../../platform/errors.ts";
import { storeTrace } from "../../platform/trace.ts";
import { presentEvent } from "../../wire/events.ts";
import { presentRoom } from "../../wire/room.ts";
import { presentUser } from "../../wire/user.ts";
import { sampleDraft } from "../deliveries/sample-draft.ts";
import { selectRoom } from "../rooms/shared-store.ts";
import { selectUsersPage } from "../users/queries.ts";
import { selectUser } from "../users/statements.ts";
import type { WorkflowContext } from "./context.ts";
import { derivedId } from "./derived-id.ts";
import type { WorkflowRun } from "./execution-schema.ts";
import { selectWorkflowSummary } from "./store.ts";

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
