/** The records of a subscriber: deliveries, their metrics over time, and replays. */

import type { EventName, WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Page } from "../../platform/d1/d1.ts";
import type { OutgoingEvent } from "../outbox/subscription.ts";

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

export interface FoundDelivery {
  readonly delivery: DeliveryRecord;
  readonly isInFlight: boolean;
}

export type StatusFilter = DeliveryStatus | "over" | "any";

export interface DeliveryQuery extends Pick<Page, "limit" | "offset"> {
  readonly beforeSeq?: number | undefined;
  readonly event?: WebhookEventName | undefined;
  readonly roomId?: string | undefined;
}

export interface DeliveryPage {
  readonly deliveries: DeliveryRecord[];
  readonly total: number;
  readonly isCut?: boolean;
}

export type StatsRange = "1h" | "24h" | "7d" | "30d";

export interface AttemptMetrics {
  readonly succeeded: number;
  readonly failed: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

interface StatsPoint extends AttemptMetrics {
  readonly at: number;
  /** The most deliveries that waited, as far as attempts ended in it. */
  readonly waiting: number;
}

export interface SubscriberStats {
  readonly total: AttemptMetrics;
  readonly points: StatsPoint[];
  readonly waiting: { readonly deliveries: number; readonly bytes: number; readonly oldestAt: number | null };
  readonly failing: (FailingStreak & { readonly nextAt: number | null }) | null;
  readonly lastSuccessAt: number | null;
}

/** The attempts since the latest success, all of which failed. */
export interface FailingStreak {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Why the latest one failed: one line, for the customer. */
  readonly error: string;
}

export interface ReplayRequest {
  readonly from: number;
  readonly to: number;
  /** Only events of kept deliveries with this status; null for all events in the log. */
  readonly status: "success" | "failed" | null;
  readonly roomId: string | null;
  readonly names: readonly (EventName | WebhookEventName)[];
  /** The agent whose mentions alone are sent; null for none. */
  readonly identityId: string | null;
}

export interface ReplayRecord extends ReplayRequest {
  readonly id: string;
  readonly deliveries: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Reason of an early end, for the customer; null without one. */
  readonly error: string | null;
}
