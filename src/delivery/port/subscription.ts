/** Who listens to which events. */
import type { WebhookEventName } from "../../wire/event-name.ts";

/** That an enabled webhook or workflow wanted an event when it happened; the organization's log takes every event. */
export interface Subscription {
  readonly kind: "webhook" | "workflow" | "log";
  /** Of the webhook or workflow; the log has none, and no version. */
  readonly id: string;
  /** Grows with each change of the subscriber's row: what was cached of an earlier version is out of date. */
  readonly version: number;
}

/** What an enabled webhook or workflow listens to. */
export interface RoomSubscription extends Subscription {
  /** A JSON array of event names. */
  readonly events: string;
}

/** Whether a JSON array of event names has this one: no quoted name is part of another one. */
export const namesEvent = (events: string, event: WebhookEventName): boolean =>
  events.includes(JSON.stringify(event));
