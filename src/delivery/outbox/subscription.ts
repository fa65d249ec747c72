/** Subscribers, their subscriptions, and events on their way to them. */
import type { WebhookEventName, WorkflowEventName } from "@atrium/contract/resources/events.ts";

export interface SubscriberKey {
  readonly kind: "webhook" | "workflow";
  readonly accountId: string;
  readonly id: string;
}

export const keyOf =
  (kind: SubscriberKey["kind"]) =>
  ({ accountId }: Pick<SubscriberKey, "accountId">, id: string): SubscriberKey => ({ kind, accountId, id });

/** A subscriber that wanted an event when it happened. The organization's log takes every event, inboxes mentions of agents. */
export interface Subscription {
  readonly kind: "webhook" | "workflow" | "log" | "inboxes";
  /** The ID of the webhook or workflow; the log and the inboxes have none, and no version. */
  readonly id: string;
  /** Grows with each change of the subscriber's row; cached data of an earlier version is out of date. */
  readonly version: number;
}

export interface RoomSubscription extends Subscription {
  readonly events: string;
  /** The agent whose mentions alone a webhook receives; null for none, absent in a shard of the version before. */
  readonly identityId?: string | null;
}

/** The agent that an event mentions; null for any other event. */
export const mentionedIn = ({ event, body }: Pick<OutgoingEvent, "event" | "body">): string | null =>
  event === "agent.mentioned"
    ? (JSON.parse(body) as { readonly data: { readonly identityId: string } }).data.identityId
    : null;

type AnyEventName = WebhookEventName | WorkflowEventName;

export type OutgoingEvent = {
  readonly eventId: string;
  readonly event: AnyEventName;
  /** ID of the room, or of the event's subject if it belongs to no room. Empty for a run without a room. */
  readonly roomId: string;
  /** The event object as JSON: the same text for every subscriber and every attempt. */
  readonly body: string;
  readonly occurredAt: number;
  readonly trace?: string | null;
};
