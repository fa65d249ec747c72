/** The port to the objects that deliver events, one for each subscriber: what requests and dispatch ask of them. */
import type { Page } from "../platform/d1.ts";
import type { WorkflowExecution } from "../workflows/schema.ts";
import type { EventName } from "./events.ts";

/** Which subscriber. */
export interface SubscriberKey {
  readonly kind: "webhook" | "workflow";
  readonly accountId: string;
  readonly id: string;
}

/** An event on its way. */
export interface OutgoingEvent {
  readonly eventId: string;
  readonly event: EventName;
  readonly roomId: string;
  /** The event object as JSON: the same text for every subscriber and every attempt. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** What is kept of every attempt; each kind of subscriber adds what it shows. */
export interface LoggedAttempt {
  readonly attempted_at: string;
  readonly duration_ms: number;
}

/** One try of a delivery to a webhook, as its log keeps it. */
export interface LoggedRequest extends LoggedAttempt {
  readonly status_code: number | null;
  /** At which stage it failed; null when it did not. */
  readonly error_class: string | null;
  readonly error: string | null;
  /** The start of what the receiver answered. */
  readonly answer: string | null;
}

/** An event's way to one webhook, as the API shows it (decisions section 5); null where there is nothing yet. */
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
  readonly log: LoggedRequest[];
}

type PageWanted = Pick<Page, "limit" | "offset">;

export interface SubscriberGateway {
  /** Takes events to deliver, each event id once. `version` is that of the subscriber's row when they happened. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): Promise<void>;
  /** What is remembered of the subscriber's row counts no more from now on if its version is lower than this. */
  requireVersion(key: SubscriberKey, version: number): Promise<void>;
  /** Drops everything: the subscriber was deleted. What is under way is not stopped. */
  remove(key: SubscriberKey): Promise<void>;

  /** A page of a webhook's deliveries as far as they are kept, newest first, and how many there are. */
  listDeliveries(
    key: SubscriberKey,
    filter: { readonly status?: Delivery["status"] | undefined },
    page: PageWanted,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly total: number }>;
  /** Sends a delivery's event once more, as a new delivery; null when there is no such delivery. */
  redeliver(key: SubscriberKey, deliveryId: string): Promise<Delivery | null>;
  /** Sends a webhook an event now and waits for the outcome of the first attempt. */
  send(key: SubscriberKey, envelope: OutgoingEvent): Promise<Delivery>;

  /** A page of a workflow's executions that are over, as far as they are kept, newest first. */
  listExecutions(
    key: SubscriberKey,
    page: PageWanted,
  ): Promise<{ readonly executions: readonly WorkflowExecution[]; readonly total: number }>;
  /** Runs a workflow with an event now, once by its id, and waits for its end; null when that is no longer wanted. */
  run(key: SubscriberKey, envelope: OutgoingEvent): Promise<WorkflowExecution | null>;
}
