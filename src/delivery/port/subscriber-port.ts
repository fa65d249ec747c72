/** The port to the objects that deliver events: each webhook and each workflow has one of its own. */
import type { ArchivedObject } from "../../platform/archive/object-archive.ts";
import type { WebhookEventName } from "../../wire/event-name.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  FoundDelivery,
  OutgoingEvent,
  StatusFilter,
} from "./delivery-record.ts";
import type { StatsRange, SubscriberStats } from "./delivery-stats.ts";
import type { ReplayRecord, ReplayRequest } from "./replay.ts";
import type { RoomSubscription } from "./subscription.ts";
import type { AttemptResult, Destination, WebhookMessage } from "./webhook-request.ts";

/** Names a subscriber. */
export interface SubscriberKey {
  readonly kind: "webhook" | "workflow";
  readonly accountId: string;
  readonly id: string;
}

/** What the rest of the service asks of subscribers' objects. */
export interface SubscriberGateway {
  /**
   * Enqueues events for delivery, each event id once. They are on disk when this resolves. `version` is that of the
   * subscriber's row when they happened.
   */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): Promise<void>;
  /** Enqueues one event that waits for no other, once by its id, which becomes the id of its delivery. */
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): Promise<void>;
  /** Appends a room's events to the organization's log, each event id once. They are on disk when this resolves. */
  appendToLog(accountId: string, roomId: string, events: readonly OutgoingEvent[]): Promise<void>;
  /** The same, and returns who subscribes to the room's events. */
  publishToLog(
    accountId: string,
    roomId: string,
    events: readonly OutgoingEvent[],
  ): Promise<readonly RoomSubscription[]>;
  /** Whether an enabled webhook or workflow listens to this event of the room. */
  hasListener(accountId: string, roomId: string, event: WebhookEventName): Promise<boolean>;
  /** A webhook or workflow was created, changed or deleted: events that happen from now on are for those who listen now. */
  subscriptionsChanged(accountId: string): Promise<void>;
  /** Removes what identifies a user of the room, and what they wrote, from the organization's log. */
  eraseFromLog(accountId: string, roomId: string, userId: string): Promise<void>;
  /** Deletes the organization's log, because the organization was deleted. */
  removeLog(accountId: string): Promise<void>;
  /**
   * A change of what the subscriber receives by the clock is about to be committed. It takes effect then even if
   * {@link notifyOfChange} never arrives.
   */
  expectChange(key: SubscriberKey): Promise<void>;
  /** The subscriber's row was changed: the object uses no older one, and continues with what waits. */
  notifyOfChange(key: SubscriberKey, version: number): Promise<void>;
  /** Removes everything the object keeps, because the subscriber was deleted. Attempts in flight are not stopped. */
  remove(key: SubscriberKey): Promise<void>;
  /**
   * Has a sender of the webhook, which is numbered from 1, make a request. Rejects when the sender fails: then no one
   * knows whether the request has arrived.
   */
  send(
    key: SubscriberKey,
    sender: number,
    destination: Destination,
    message: WebhookMessage,
  ): Promise<AttemptResult>;
  /** What the subscriber's object stores, for a backup. */
  archived(key: SubscriberKey): ArchivedObject;
  /** A page of the deliveries that are kept, newest first; it ends early rather than exceed 4 MiB. */
  list(key: SubscriberKey, filter: StatusFilter, query: DeliveryQuery): Promise<DeliveryPage>;
  /** One delivery as it is now; null when it is not kept. */
  find(key: SubscriberKey, deliveryId: string): Promise<FoundDelivery | null>;
  /** Starts to send a span of events again, in order within each room; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): Promise<ReplayRecord | null>;
  /** How its attempts went in the range that ends now, and what waits. */
  stats(key: SubscriberKey, range: StatsRange): Promise<SubscriberStats>;
  /** The latest replay; null when there was none. */
  findReplay(key: SubscriberKey): Promise<ReplayRecord | null>;
  /** Enqueues the event of an earlier delivery as a new one, ahead of the queue; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): Promise<DeliveryRecord | null>;
  /** The same of several at once, in their order; returns the ids of those that are not kept. */
  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): Promise<string[]>;
  /** Delivers an event ahead of the queue, and resolves after the first attempt; null when no record was kept. */
  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null>;
  /** The same, once per event id: a repetition resolves with the outcome of the first call. */
  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null>;
}
