/** An event on its way to a subscriber, and what is kept of its delivery. */
import type { Page } from "../../platform/d1/d1.ts";
import type { AnyEventName, WebhookEventName } from "../../wire/event-name.ts";

/** An event on its way to subscribers. */
export type OutgoingEvent = {
  readonly eventId: string;
  readonly event: AnyEventName;
  /** Of the room that it is about; empty for one that concerns no room. */
  readonly roomId: string;
  /** The event object as JSON: the same text for every subscriber and every attempt. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** The trace of the request that has caused it, as JSON; null or absent for none. */
  readonly trace?: string | null;
};

/** `pending` until an attempt succeeds or no further one follows. */
export type DeliveryStatus = "pending" | "success" | "failed";

/** The log entry of an attempt; each kind of subscriber adds fields of its own. */
export interface LoggedAttempt {
  readonly attempted_at: string;
  readonly duration_ms: number;
}

/** One event's delivery to one subscriber, as the subscriber's object keeps it. Times are epoch milliseconds. */
export type DeliveryRecord = OutgoingEvent & {
  readonly id: string;
  /** Counts the subscriber's deliveries in the order in which they were enqueued. */
  readonly seq: number;
  readonly status: DeliveryStatus;
  /** The number of attempts so far. */
  readonly attempts: number;
  readonly lastAttemptAt: number | null;
  /** When the next attempt is due; null once the delivery is over. */
  readonly dueAt: number | null;
  /** The failure of the latest attempt, for the customer; null without one. */
  readonly error: string | null;
  readonly createdAt: number;
  /** The attempts, oldest first: a JSON array of {@link LoggedAttempt}. */
  readonly log: string;
};

/** A delivery as it is now. */
export interface FoundDelivery {
  readonly delivery: DeliveryRecord;
  /** True while an attempt is being made. */
  readonly isInFlight: boolean;
}

/** Which deliveries a list shows; `over` means all but the pending ones. */
export type StatusFilter = DeliveryStatus | "over" | "any";

/** Which page of deliveries to list, and of which events only; then of the latest deliveries only. */
export interface DeliveryQuery extends Pick<Page, "limit" | "offset"> {
  /** Only deliveries that were enqueued before the one with this number. */
  readonly beforeSeq?: number | undefined;
  readonly event?: WebhookEventName | undefined;
  readonly roomId?: string | undefined;
}

export interface DeliveryPage {
  readonly deliveries: DeliveryRecord[];
  /** The deliveries that match the filter, on all pages. */
  readonly total: number;
  /** True when the page ended early, because its deliveries are large. */
  readonly isCut?: boolean;
}
