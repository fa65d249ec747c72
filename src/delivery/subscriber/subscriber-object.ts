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
import { DeliveryStore, SUBSCRIBER_SCHEMA } from "./delivery-store.ts";
import type { AttemptResult, Destination, SubscriberPorts, WebhookMessage } from "./handler.ts";
import { StatsStore } from "./stats-store.ts";
import { SubscriberRuntime } from "./subscriber-runtime.ts";

/** Reading creates nothing in storage. */
export class SubscriberObject extends ArchivedDurableObject<object> {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: SubscriberPorts;
  #opened: SubscriberRuntime;

  /** The composition root fills the ports. */
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
    const { store } = this.#runtime;
    this.#enqueue(key, events, version, (event, now) => store.insert(event, event.roomId, now));
  }

  /** Enqueues an event in a lane of its own, once by its ID, which becomes that of its delivery. */
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): void {
    const { store } = this.#runtime;
    this.#enqueue(key, [event], version, (_, now) => store.insert(event, null, now, event.eventId));
  }

  #enqueue(
    key: SubscriberKey,
    events: readonly OutgoingEvent[],
    version: number,
    insert: (event: OutgoingEvent, now: number) => void,
  ): void {
    const { store, maintenance, attempts } = this.#runtime;
    const now = this.clock();
    store.transaction(() => {
      store.open(key);
      for (const event of events) if (store.recordEventId(event.eventId, now)) insert(event, now);
      maintenance.prune();
    });
    const handler = this.#runtime.handlerFor(key);
    handler.requireVersion(version);
    attempts.run();
    maintenance.checkBacklog(handler);
  }

  /**
   * A change of the subscriber's schedule is about to be committed. It takes effect then even if
   * {@link notifyOfChange} never arrives.
   */
  expectChange(key: SubscriberKey): void {
    this.#runtime.maintenance.expectChange(key);
    this.#runtime.planAlarm();
  }

  /** The subscriber's row was changed: the object uses no older one, and continues with its queue. */
  notifyOfChange(version: number): void {
    const { maintenance, attempts } = this.#runtime;
    const handler = this.#runtime.currentHandler();
    if (handler === null) return;
    handler.requireVersion(version);
    maintenance.forgiveBacklog();
    maintenance.changed(handler);
    attempts.resume();
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
    return this.#recorded.history.list(filter, query);
  }

  /** One delivery as it is now; null when it is not kept. */
  find(deliveryId: string): FoundDelivery | null {
    const { history, attempts } = this.#recorded;
    const delivery = history.findById(deliveryId);
    return delivery && { delivery, isInFlight: attempts.isInFlight(delivery.seq) };
  }

  /** The attempts in the range that ends now, and the backlog. */
  stats(range: StatsRange): SubscriberStats {
    return new StatsStore(this.#recorded.store).read(range, this.clock());
  }

  /** Enqueues the event of an earlier delivery as a new one, ahead of the queue; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null {
    const { history, manual } = this.#recorded;
    const earlier = history.findById(deliveryId);
    return earlier && manual.enqueue(key, earlier).delivery;
  }

  /** The same of several deliveries, in their order. Returns the IDs of those that are not kept. */
  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): string[] {
    return deliveryIds.filter((id) => this.redeliver(key, id) === null);
  }

  /** Delivers an event ahead of the queue, and resolves after the first attempt; null when no record was kept. */
  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#runtime.manual.enqueue(key, event).attempted;
  }

  /** The same, once per event ID: a repetition resolves with the outcome of the first call. */
  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#runtime.manual.enqueueOnce(key, event).attempted;
  }

  /** Starts to send a span of events again, in order within each room; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    return this.#runtime.maintenance.startReplay(key, request);
  }

  /** The latest replay; null when there was none. */
  findReplay(): ReplayRecord | null {
    return this.#runtime.maintenance.findReplay();
  }
}
