/** The Durable Object of one subscriber: a durable queue of events, and the record of their deliveries. Or one of its senders. */
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import { forgetReport } from "./backlog.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  FoundDelivery,
  ReplayRecord,
  ReplayRequest,
  StatsRange,
  StatusFilter,
  SubscriberStats,
} from "./delivery.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryStore, SUBSCRIBER_SCHEMA } from "./delivery-store.ts";
import type { AttemptResult, Destination, SubscriberPorts, WebhookMessage } from "./handler.ts";
import { StatsStore } from "./stats-store.ts";
import { SubscriberRuntime } from "./subscriber-runtime.ts";

/** Reading creates nothing in storage. */
export class SubscriberObject extends ArchivedDurableObject<object> {
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: SubscriberPorts;
  #opened: SubscriberRuntime;

  constructor(ctx: DurableObjectState, env: object, ports: SubscriberPorts) {
    super(ctx, env);
    const open = () => new SubscriberRuntime(ctx, ports, () => this.clock());
    this.#ports = ports;
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: SUBSCRIBER_SCHEMA,
      flush: () => this.#opened.attempts.flush(),
      settle: () => forgetReport(new DeliveryStore(ctx.storage)),
      open: () => {
        this.#opened = open();
        this.#opened.wakeSoon();
      },
    });
    this.#opened = open();
  }

  /** Throws while the object is being restored. */
  get #runtime(): SubscriberRuntime {
    this.archived.requireOpen();
    return this.#opened;
  }

  /** The same, when storage has the outcomes of all attempts so far. */
  get #recorded(): SubscriberRuntime {
    this.#runtime.attempts.flush();
    return this.#opened;
  }

  override alarm(): void {
    if (!this.archived.isRestoring) this.#opened.runAlarm();
  }

  /**
   * Enqueues events for delivery, each event ID once. They are on disk when this resolves. `version` is that of the
   * subscriber's row when they happened.
   */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    const runtime = this.#runtime;
    runtime.enqueue(key, events, version, (event, now) => runtime.store.insert(event, event.roomId, now));
  }

  /** Enqueues an event in a lane of its own, once by its ID, which becomes that of its delivery. */
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): void {
    const runtime = this.#runtime;
    runtime.enqueue(key, [event], version, (_, now) => runtime.store.insert(event, null, now, event.eventId));
  }

  /**
   * A change of the subscriber's schedule is about to be committed. It takes effect then even if
   * {@link notifyOfChange} never arrives.
   */
  expectChange(key: SubscriberKey): void {
    this.#runtime.expectChange(key);
  }

  /** The subscriber's row was changed: the object uses no older one, and continues with its queue. */
  notifyOfChange(version: number): void {
    this.#runtime.changed(version);
  }

  /** Removes everything, because the subscriber was deleted. Attempts in flight are not stopped. */
  async remove(): Promise<void> {
    if (!(await this.archived.discard())) await this.#runtime.remove();
  }

  /**
   * As a sender: makes a request for the webhook's own object, and stores nothing. Rejects when the sender fails: the
   * request may have arrived.
   */
  send(destination: Destination, message: WebhookMessage): Promise<AttemptResult> {
    return this.#ports.send(destination, message, () => this.clock());
  }

  /** A page of the kept deliveries, newest first; it ends early rather than exceed 4 MiB. */
  list(filter: StatusFilter, query: DeliveryQuery): DeliveryPage {
    return new DeliveryHistory(this.#recorded.store).list(filter, query);
  }

  find(deliveryId: string): FoundDelivery | null {
    const { store, attempts } = this.#recorded;
    const delivery = new DeliveryHistory(store).findById(deliveryId);
    return delivery && { delivery, isInFlight: attempts.isInFlight(delivery.seq) };
  }

  stats(range: StatsRange): SubscriberStats {
    return new StatsStore(this.#recorded.store).read(range, this.clock());
  }

  /** Enqueues the event of an earlier delivery as a new one, ahead of the queue; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null {
    const runtime = this.#recorded;
    const earlier = new DeliveryHistory(runtime.store).findById(deliveryId);
    return earlier && runtime.enqueueFirst(key, earlier).delivery;
  }

  /** The same of several deliveries, in their order. Returns the IDs of those that are not kept. */
  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): string[] {
    return deliveryIds.filter((id) => this.redeliver(key, id) === null);
  }

  /** Delivers an event ahead of the queue, and resolves after the first attempt; null when no record was kept. */
  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#runtime.enqueueFirst(key, event).attempted;
  }

  /** The same, once per event ID: a repetition resolves with the outcome of the first call. */
  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#runtime.enqueueFirstOnce(key, event);
  }

  /** Starts to send a span of events again, in order within each room; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    return this.#runtime.startReplay(key, request);
  }

  findReplay(): ReplayRecord | null {
    return this.#runtime.replay.find();
  }
}
