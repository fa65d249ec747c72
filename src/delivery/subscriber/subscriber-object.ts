/** The Durable Object of one subscriber: a durable queue of events, and the record of their deliveries. Or one of its senders. */
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { ArchivedDurableObject, StorageArchive } from "../../platform/objects/storage-archive.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import { Attempts } from "./attempts.ts";
import { BacklogGuard, forgetReport } from "./backlog.ts";
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
import { listDeliveries } from "./delivery-list.ts";
import { DeliveryStore, SUBSCRIBER_SCHEMA } from "./delivery-store.ts";
import type {
  AttemptResult,
  DeliveryHandler,
  Destination,
  SubscriberPorts,
  WebhookMessage,
} from "./handler.ts";
import { Replay } from "./replay.ts";
import { countDeliveries, readStats, recordStreak } from "./stats-store.ts";
import { DeliveryRetention, TimedDeliveries } from "./subscriber-maintenance.ts";

/** Delay of an alarm that is set while attempts are in flight: after a crash it starts them again. */
const WATCHDOG_MS = 5_000;

interface ManualDelivery {
  readonly delivery: DeliveryRecord;
  readonly attempted: Promise<DeliveryRecord | null>;
}

/** The parts of the object, which are opened anew when its storage was replaced. */
interface Parts {
  readonly store: DeliveryStore;
  readonly attempts: Attempts;
  readonly replay: Replay;
  readonly retention: DeliveryRetention;
  readonly backlog: BacklogGuard;
  readonly timed: TimedDeliveries;
}

/** Reading creates nothing in storage. */
export class SubscriberObjectBase extends ArchivedDurableObject<object> {
  clock: () => number = () => Date.now();

  readonly archived: StorageArchive;
  readonly #ports: SubscriberPorts;
  readonly #alarm: DurableAlarm;
  #opened: Parts;
  #handler: DeliveryHandler | null = null;

  constructor(ctx: DurableObjectState, env: object, ports: SubscriberPorts) {
    super(ctx, env);
    this.#ports = ports;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of a subscriber could not be set", error),
    );
    this.archived = new StorageArchive({
      storage: ctx.storage,
      schema: SUBSCRIBER_SCHEMA,
      flush: () => this.#opened.attempts.flush(),
      settle: () => forgetReport(new DeliveryStore(ctx.storage)),
      open: () => {
        this.#opened = this.#open();
        this.#alarm.markFired();
        this.#wakeSoon();
      },
    });
    this.#opened = this.#open();
  }

  /** Resumes pending deliveries. Attempts that were cut off and must not be repeated fail. */
  #open(): Parts {
    const ctx = this.ctx;
    const ports = this.#ports;
    const now = () => this.clock();
    const store = new DeliveryStore(ctx.storage);
    const retention = new DeliveryRetention(store);
    const replay = new Replay(store, {
      now,
      newId: () => crypto.randomUUID(),
      readLog: async (shard, query) => ports.readLog(store.readKey()?.accountId ?? "", shard, query),
    });
    const attempts = new Attempts(store, {
      now,
      keepAlive: (work) => ctx.waitUntil(work),
      startingHandler: () => (retention.isEnding ? null : this.#handlerOf(store)),
      isCurrent: (handler) => handler === this.#handler,
      onOrphaned: () => this.#clear(),
      onDisabled: (lastSeq, error) => {
        retention.endWaiting(lastSeq, error, now());
        replay.end(error ?? "It was disabled");
        if (retention.isEnding) this.#wakeSoon();
      },
      planAlarm: () => this.#planAlarm(),
      report: (what, error) => this.#report(what, error),
    });
    this.#handler = null;
    const interruption = this.#handlerOf(store)?.interruption ?? null;
    if (interruption !== null && store.failStarted(interruption) > 0)
      recordStreak(store, [{ type: "failed", attempt: null, error: interruption }], now());
    const [backlog, timed] = [new BacklogGuard(store, ports), new TimedDeliveries(store)];
    return { store, attempts, replay, retention, backlog, timed };
  }

  /** Throws while the object is being restored. */
  get #parts(): Parts {
    this.archived.requireOpen();
    return this.#opened;
  }

  /** The same, when storage has the outcomes of all attempts so far. */
  get #recorded(): Parts {
    this.#parts.attempts.flush();
    return this.#opened;
  }

  /** The handler of the subscriber that storage names; null before it names one. */
  #handlerOf(store: DeliveryStore): DeliveryHandler | null {
    const key = store.readKey();
    return key && this.#handlerFor(key, store);
  }

  #handlerFor(key: SubscriberKey, { handlerState }: DeliveryStore): DeliveryHandler {
    this.#handler ??= this.#ports.createHandler(key, () => this.clock(), handlerState);
    return this.#handler;
  }

  /**
   * Enqueues events for delivery, each event ID once. They are on disk when this resolves. `version` is that of the
   * subscriber's row when they happened. A caller that `canWait` for quick attempts saves writes.
   */
  async enqueue(
    key: SubscriberKey,
    events: readonly OutgoingEvent[],
    version: number,
    canWait = false,
  ): Promise<void> {
    const { store, attempts } = this.#parts;
    const isHeld = canWait && attempts.mayHold(events.length);
    // Storage has earlier events of a room first, so that a crash leaves them in order.
    if (!isHeld && events.some(({ roomId }) => store.holdsLane(roomId))) store.writeHeld();
    this.#enqueue(key, events, version, (event, now) => {
      if (isHeld) store.hold(event, event.roomId, now);
      else store.insert(event, event.roomId, now, { isFirst: true });
    });
    await attempts.untilWritten(events.flatMap(({ eventId }) => store.heldSeq(eventId) ?? []));
  }

  /** Enqueues an event in a lane of its own, once by its ID, which becomes that of its delivery. */
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): void {
    const { store } = this.#parts;
    this.#enqueue(key, [event], version, (_, now) => {
      store.insert(event, null, now, { isFirst: true, id: event.eventId });
    });
  }

  #enqueue(
    key: SubscriberKey,
    events: readonly OutgoingEvent[],
    version: number,
    insert: (event: OutgoingEvent, now: number) => void,
  ): void {
    const { store, retention, attempts } = this.#opened;
    const now = this.clock();
    store.transaction(() => {
      store.open(key);
      for (const event of events) if (!store.isKnown(event.eventId, now)) insert(event, now);
      countDeliveries(store, now);
      retention.prune(now);
    });
    const handler = this.#handlerFor(key, store);
    handler.requireVersion(version);
    attempts.run();
    this.#checkBacklog(handler);
  }

  #enqueueFirst(key: SubscriberKey, event: OutgoingEvent, isFirst = false): ManualDelivery {
    const { store, attempts } = this.#parts;
    const delivery = store.transaction(() => {
      store.open(key);
      return store.find(store.insert(event, null, this.clock(), { isFirst }));
    });
    if (delivery === null) throw new Error("A delivery was written but cannot be read");
    const attempted = attempts.firstOutcomeOf(delivery);
    // A person who tests by hand has often just changed something.
    this.#handlerFor(key, store).requireVersion(Number.POSITIVE_INFINITY);
    attempts.runFirst(delivery.id);
    return { delivery, attempted };
  }

  /**
   * A change of the subscriber's schedule is about to be committed. It takes effect then even if
   * {@link notifyOfChange} never arrives.
   */
  expectChange(key: SubscriberKey): void {
    const { store, timed } = this.#parts;
    store.transaction(() => {
      store.open(key);
      timed.expectChange(this.clock());
    });
    this.#planAlarm();
  }

  /**
   * The subscriber's row was changed: the object uses no older one, and continues with its queue. The row may be
   * enabled again: the subscriber gets time to work off its backlog.
   */
  notifyOfChange(version: number): void {
    const { store, backlog, timed, attempts } = this.#parts;
    const handler = this.#handlerOf(store);
    if (handler === null) return;
    handler.requireVersion(version);
    backlog.forgive(this.clock());
    timed.changed(this.clock());
    this.#continueTimed(handler);
    attempts.resume();
  }

  /** Removes everything, because the subscriber was deleted. Attempts in flight are not stopped. */
  async remove(): Promise<void> {
    if (!(await this.archived.discard())) await this.#clear();
  }

  /** No pending delivery starts any more. */
  async #clear(): Promise<void> {
    const { attempts, store } = this.#opened;
    attempts.clear();
    this.#handler?.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler?.release();
    this.#handler = null;
    this.#alarm.markFired();
    await store.clear();
  }

  /**
   * Called on a sender: makes a request for the webhook's own object, and stores nothing. Rejects when the
   * sender fails; the request may have arrived.
   */
  send(destination: Destination, message: WebhookMessage): Promise<AttemptResult> {
    return this.#ports.send(destination, message, () => this.clock());
  }

  /** A page of the kept deliveries, newest first; it ends early rather than exceed 4 MiB. */
  list(filter: StatusFilter, query: DeliveryQuery): DeliveryPage {
    return listDeliveries(this.#recorded.store, filter, query);
  }

  find(deliveryId: string): FoundDelivery | null {
    const { store, attempts } = this.#recorded;
    const delivery = store.findById(deliveryId);
    return delivery && { delivery, isInFlight: attempts.isInFlight(delivery.seq) };
  }

  stats(range: StatsRange): SubscriberStats {
    const { store } = this.#recorded;
    return readStats(store, range, this.clock(), this.#handlerOf(store)?.pace.pausedUntil);
  }

  /** Enqueues the event of an earlier delivery as a new one, ahead of the queue; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null {
    const earlier = this.#recorded.store.findById(deliveryId);
    return earlier && this.#enqueueFirst(key, earlier).delivery;
  }

  /** The same of several deliveries, in their order. Returns the IDs of those that are not kept. */
  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): string[] {
    return deliveryIds.filter((id) => this.redeliver(key, id) === null);
  }

  /** Delivers an event ahead of the queue, and resolves after the first attempt; null when no record was kept. */
  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#enqueueFirst(key, event).attempted;
  }

  /** The same, once per event ID: a repetition resolves with the outcome of the first call. */
  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    const { store, attempts } = this.#recorded;
    const earlier = store.findByEvent(event.eventId);
    return earlier === null
      ? this.#enqueueFirst(key, event, true).attempted
      : attempts.firstOutcomeOf(earlier);
  }

  /** Starts to send a span of events again, in order within each room; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    const { store, replay, attempts } = this.#recorded;
    const started = store.transaction(() => {
      store.open(key);
      return replay.start(request);
    });
    if (started !== null) {
      this.#handlerFor(key, store).giveChance?.();
      attempts.resume();
    }
    this.#continueReplay();
    return started;
  }

  findReplay(): ReplayRecord | null {
    return this.#parts.replay.find();
  }

  /** Never throws: the platform gives up alarms that fail repeatedly. */
  override alarm(): void {
    if (this.archived.isRestoring) return;
    const { store, attempts, retention } = this.#opened;
    this.#alarm.markFired();
    try {
      attempts.flush();
      store.transaction(() => {
        countDeliveries(store, this.clock());
        retention.endSome(this.clock());
        retention.prune(this.clock());
      });
      const handler = this.#handlerOf(store);
      if (handler !== null) this.#continueTimed(handler);
      attempts.run();
      this.#continueReplay();
      if (handler !== null) this.#checkBacklog(handler);
    } catch (error) {
      this.#report("The alarm of a subscriber failed", error);
      this.#alarm.scheduleBy([this.clock() + WATCHDOG_MS]);
    }
  }

  #wakeSoon(): void {
    this.#alarm.scheduleBy([this.clock()]);
  }

  /** Each end of an attempt plans again, so retention and backlog wait until none is in flight. */
  #planAlarm(): void {
    const { attempts, replay, timed, retention, backlog } = this.#opened;
    const now = this.clock();
    this.#alarm.scheduleBy([
      attempts.dueAt(now),
      replay.dueAt(),
      timed.dueAt(),
      attempts.needsWatchdog ? now + WATCHDOG_MS : null,
      ...(attempts.isBusy ? [] : [retention.dueAt(now), ...backlog.dueAt(now)]),
    ]);
  }

  #checkBacklog(handler: DeliveryHandler): void {
    const check = this.#opened.backlog.check(handler, this.clock());
    this.#inBackground(check, "The backlog of a subscriber could not be acted on yet");
  }

  #continueTimed({ timetable }: DeliveryHandler): void {
    const { timed, attempts } = this.#opened;
    if (timetable === undefined || timed.dueAt() === null) return;
    const step = async (): Promise<void> => {
      const result = await timed.step(timetable, this.clock());
      if (result === "orphaned") await this.#clear();
      if (result === "enqueued") attempts.run();
    };
    this.#inBackground(step(), "The schedule of a subscriber could not be read yet");
  }

  #continueReplay(): void {
    const { retention, replay, attempts } = this.#opened;
    if (retention.isEnding) return;
    const step = async (): Promise<void> => {
      if (await replay.step()) attempts.run();
    };
    this.#inBackground(step(), "Events could not be read from the log to send them again yet");
  }

  #inBackground(work: Promise<void>, failure: string): void {
    const done = work.catch((error: unknown) => this.#report(failure, error));
    this.ctx.waitUntil(done.then(() => this.#planAlarm()));
  }

  #report(what: string, error: unknown): void {
    const key = this.#opened.store.readKey();
    const subscriber =
      key === null ? { object: String(this.ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    reportFailure("delivery", what, subscriber, error);
  }
}
