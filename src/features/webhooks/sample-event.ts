/** A sample event for testing a webhook, of the same shape as real ones. */
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import type { BacklogReport } from "../../delivery/subscriber/handler.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { presentNullableTime, presentTime } from "../../platform/time.ts";
import { storeTrace } from "../../platform/trace.ts";
import { presentEvent } from "../../wire/events.ts";
import type { Room } from "../../wire/room.ts";
import type { User } from "../../wire/user.ts";
import type { WorkflowDisabledEvent } from "../../wire/workflow-events.ts";
import { sampleDraft } from "../deliveries/sample-draft.ts";
import type { Webhook, WebhookBackloggedEvent } from "./schema.ts";

/** The first of the webhook's events, about a room and a user that do not exist. */
export function sampleEvent(
  ctx: Pick<RequestContext, "newId" | "now" | "origin" | "trace">,
  webhook: Webhook,
): OutgoingEvent {
  const [event = "user.created"] = webhook.events;
  const [eventId, now, trace] = [ctx.newId(), ctx.now(), storeTrace(ctx.trace)];
  if (event === "webhook.backlogged" || event === "workflow.disabled") {
    const workflow = { id: ctx.newId(), name: "Test workflow" };
    const body =
      event === "webhook.backlogged"
        ? presentBacklogged(webhook, { eventId, now, deliveries: 1, bytes: 1024, oldestAt: now })
        : presentEvent(eventId, now, {
            event,
            data: { workflowId: workflow.id, reason: "killed" },
            workflow,
          } satisfies Omit<WorkflowDisabledEvent, "id" | "timestamp">);
    return { eventId, event, roomId: webhook.id, body, occurredAt: now, trace };
  }
  const room: Room = {
    id: webhook.room_id ?? ctx.newId(),
    account_id: webhook.organization_id,
    name: "Test room",
    created_at: presentTime(now),
    state: "active",
    duration_seconds: 0,
    active_participants: 0,
    total_users_created: 1,
  };
  const user: User = {
    id: ctx.newId(),
    room_id: room.id,
    name: "Test user",
    role: "editor",
    status: "offline",
    created_at: presentTime(now),
  };
  const { newId, origin } = ctx;
  const body = presentEvent(eventId, now, sampleDraft(event, { room, users: [user], now, origin, newId }));
  return { eventId, event, roomId: room.id, body, occurredAt: now, trace };
}

export function presentBacklogged(webhook: Webhook, report: BacklogReport): string {
  const { eventId, now, deliveries, bytes, oldestAt } = report;
  return presentEvent(eventId, now, {
    event: "webhook.backlogged",
    data: {
      webhookId: webhook.id,
      waiting: deliveries,
      waitingBytes: bytes,
      oldestWaitingSince: presentNullableTime(oldestAt),
    },
    webhook,
  } as const satisfies Omit<WebhookBackloggedEvent, "id" | "timestamp">);
}
