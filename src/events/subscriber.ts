/** The port to the objects that deliver events, one for each subscriber: what requests and dispatch ask of them. */
import type { Page } from "../database.ts";
import type { EventName } from "./schema.ts";

/** Which subscriber. */
export interface SubscriberKey {
  readonly kind: "webhook";
  readonly accountId: string;
  readonly id: string;
}

/** An event on its way. */
export interface Envelope {
  readonly eventId: string;
  readonly event: EventName;
  readonly roomId: string;
  /** The event object as JSON: the same text for every subscriber and every attempt. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** One try of a delivery, as its log keeps it. */
export interface LoggedAttempt {
  readonly attempted_at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  /** At which stage it failed; null when it did not. */
  readonly error_class: string | null;
  readonly error: string | null;
  /** The start of what the receiver answered. */
  readonly answer: string | null;
}

/** An event's way to one subscriber, as the API shows it (decisions section 5); null where there is nothing yet. */
export interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event: EventName;
  /** The body that is sent, JSON. */
  readonly payload: string;
  readonly status: "pending" | "success" | "failed";
  readonly attempts: number;
  readonly last_attempt_at: string | null;
  readonly next_retry_at: string | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly created_at: string;
  /** Oldest first. */
  readonly log: LoggedAttempt[];
}

export interface Subscribers {
  /** Takes events to deliver, each event id once. `version` is that of the subscriber's row when they happened. */
  take(key: SubscriberKey, envelopes: readonly Envelope[], version: number): Promise<void>;
  /** A page of the deliveries that are still remembered, newest first, and how many there are. */
  listDeliveries(
    key: SubscriberKey,
    filter: { readonly status?: Delivery["status"] | undefined },
    page: Pick<Page, "limit" | "offset">,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly total: number }>;
  /** Sends a delivery's event once more, as a new delivery; null when there is no such delivery. */
  redeliver(key: SubscriberKey, deliveryId: string): Promise<Delivery | null>;
  /** Sends an event now and waits for the outcome of the first attempt. */
  send(key: SubscriberKey, envelope: Envelope): Promise<Delivery>;
  /** Drops everything: the subscriber was deleted. */
  forget(key: SubscriberKey): Promise<void>;
}
