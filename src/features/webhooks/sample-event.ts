/** A sample event for testing a webhook, of the same shape as real ones. */

import { isOf } from "@atrium/contract/resources/event-names.ts";
import type { EventDraft, OrganizationEventDraft } from "@atrium/contract/resources/events.ts";
import { presentEvent } from "@atrium/contract/resources/present-event.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import { presentLimits } from "@atrium/contract/resources/room-limits.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import type { WorkflowDisabledEvent } from "@atrium/contract/resources/workflow-events.ts";
import type { Webhook, WebhookBackloggedEvent } from "@atrium/contract/rest/webhooks.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import type { BacklogReport } from "../../delivery/subscriber/handler.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { storeTrace } from "../../platform/trace.ts";
import { sampleDraft } from "../deliveries/sample-draft.ts";

/** The first of the webhook's events, about a room, a user, an identity and a group that do not exist. */
export function sampleEvent(
  ctx: Pick<RequestContext, "newId" | "now" | "origin" | "trace">,
  webhook: Webhook,
): OutgoingEvent {
  const [event = "user.created"] = webhook.events;
  const [eventId, now, trace] = [ctx.newId(), ctx.now(), storeTrace(ctx.trace)];
  const common = { eventId, event, occurredAt: now, trace };
  const row = { id: ctx.newId(), account_id: webhook.organization_id, created_at: presentTime(now) };
  const present = (draft: Draft) => presentEvent(eventId, now, draft);
  if (isOf("identity", event)) {
    const identity = { ...row, kind: "person", name: "Test identity" } as const;
    const data = { identityId: identity.id };
    return { ...common, roomId: row.id, body: present({ event, data, identity }) };
  }
  if (isOf("group", event)) {
    const group = { ...row, name: "Test group" };
    const data = { groupId: group.id };
    return { ...common, roomId: row.id, body: present({ event, data, group }) };
  }
  switch (event) {
    case "webhook.backlogged": {
      const body = presentBacklogged(webhook, { eventId, now, deliveries: 1, bytes: 1024, oldestAt: now });
      return { ...common, roomId: webhook.id, body };
    }
    case "workflow.disabled": {
      const workflow = { id: row.id, name: "Test workflow" };
      const data = { workflowId: workflow.id, reason: "killed" } as const;
      const body = present({ event, data, workflow });
      return { ...common, roomId: webhook.id, body };
    }
    case "notification": {
      const identity = { ...row, kind: "person", name: "Test identity" } as const;
      const notification = { id: ctx.newId(), kind: "$test", room_id: null, subject_id: "test", seq: 1 };
      const data = { identityId: identity.id, channel: "email" as const, notifications: [notification] };
      return { ...common, roomId: row.id, body: present({ event, data, identity }) };
    }
  }
  const isOnline = event === "participant.joined" || event === "session.started";
  const room: Room = {
    id: webhook.room_id ?? ctx.newId(),
    account_id: webhook.organization_id,
    name: "Test room",
    created_at: presentTime(now),
    state: "active",
    expires_at: null,
    limits: presentLimits(null),
    duration_seconds: 0,
    active_participants: Number(isOnline),
    total_users_created: 1,
  };
  const user: User = {
    id: ctx.newId(),
    room_id: room.id,
    name: "Test user",
    role: "editor",
    status: isOnline ? "online" : "offline",
    created_at: presentTime(now),
  };
  const { newId, origin } = ctx;
  const agentId = webhook.identity_id;
  const body = present(sampleDraft(event, { room, users: [user], now, origin, newId, agentId }));
  // The agent has no access to a room that does not exist: its webhook takes samples about the webhook itself.
  return { ...common, roomId: agentId === undefined ? room.id : webhook.id, body };
}

type Draft = EventDraft | OrganizationEventDraft | Unstamped<WorkflowDisabledEvent>;
type Unstamped<Any> = Omit<Any, "id" | "timestamp">;

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
  } as const satisfies Unstamped<WebhookBackloggedEvent>);
}
