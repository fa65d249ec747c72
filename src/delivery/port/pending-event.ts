/** What fan-out takes: an event with the subscribers that it has not reached. */
import type { WebhookEventName } from "../../wire/event-name.ts";

/** An event in an outbox: it has not reached all of its subscribers yet. */
export interface PendingEvent {
  readonly id: string;
  readonly event: WebhookEventName;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** The event object as JSON. */
  readonly body: string;
  /** The subscriptions that it has yet to reach, as JSON (`Subscription[]`); null until they are looked up. */
  readonly pendingSubscriptions: string | null;
  /** The trace of the request that has caused it, as JSON; null or absent for none. */
  readonly trace?: string | null;
}
