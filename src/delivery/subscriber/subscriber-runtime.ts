/** The runtime of one subscriber: connects the parts of its object, and plans their alarm. */
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import { Attempts } from "./attempts.ts";
import { BacklogGuard } from "./backlog.ts";
import type { DeliveryRecord, ReplayRecord, ReplayRequest } from "./delivery.ts";
import { DeliveryStore } from "./delivery-store.ts";
import type { DeliveryHandler, SubscriberPorts } from "./handler.ts";
import { Replay } from "./replay.ts";
import { DeliveryRetention, TimedDeliveries } from "./subscriber-maintenance.ts";

/** While attempts are in flight, an alarm is set this far ahead: it outlives a crash and takes them up again. */
const WATCHDOG_MS = 5_000;

interface ManualDelivery {
  readonly delivery: DeliveryRecord;
  readonly attempted: Promise<DeliveryRecord | null>;
}

export class SubscriberRuntime {
  readonly store: DeliveryStore;
  readonly attempts: Attempts;
  readonly replay: Replay;
  readonly #ctx: DurableObjectState;
  readonly #ports: SubscriberPorts;
  readonly #now: () => number;
  readonly #alarm: DurableAlarm;
  readonly #retention: DeliveryRetention;
  readonly #backlog: BacklogGuard;
  readonly #timed: TimedDeliveries;
  #handler: DeliveryHandler | null = null;

  /** Resumes pending deliveries. Attempts that were cut off and must not be repeated fail. `now` returns epoch ms. */
  constructor(ctx: DurableObjectState, ports: SubscriberPorts, now: () => number) {
    const store = new DeliveryStore(ctx.storage);
    this.#ctx = ctx;
    this.#ports = ports;
    this.#now = now;
    this.store = store;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of a subscriber could not be set", error),
    );
    this.#retention = new DeliveryRetention(store);
    this.#backlog = new BacklogGuard(store, ports);
    this.#timed = new TimedDeliveries(store);
    this.replay = new Replay(store, {
      now,
      newId: () => crypto.randomUUID(),
      readLog: async (shard, query) => ports.readLog(store.readKey()?.accountId ?? "", shard, query),
    });
    this.attempts = new Attempts(store, {
      now,
      keepAlive: (work) => ctx.waitUntil(work),
      startingHandler: () => (this.#retention.isEnding ? null : this.#currentHandler()),
      isCurrent: (handler) => handler === this.#handler,
      onOrphaned: () => this.remove(),
      onDisabled: (lastSeq, error) => {
        this.#retention.endWaiting(lastSeq, error);
        this.replay.end(error ?? "It was disabled");
        if (this.#retention.isEnding) this.wakeSoon();
      },
      planAlarm: () => this.#planAlarm(),
      report: (what, error) => this.#report(what, error),
    });
    const interruption = this.#currentHandler()?.interruption ?? null;
    if (interruption !== null) store.failStarted(interruption);
  }

  /** Enqueues events, each event ID once; `insert` writes the delivery of one. */
  enqueue(
    key: SubscriberKey,
    events: readonly OutgoingEvent[],
    version: number,
    insert: (event: OutgoingEvent, now: number) => void,
  ): void {
    const now = this.#now();
    this.store.transaction(() => {
      this.store.open(key);
      for (const event of events) if (this.store.recordEventId(event.eventId, now)) insert(event, now);
      this.#retention.prune(now);
    });
    const handler = this.#handlerFor(key);
    handler.requireVersion(version);
    this.attempts.run();
    this.#checkBacklog(handler);
  }

  enqueueFirst(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const delivery = this.store.transaction(() => {
      this.store.open(key);
      const seq = this.store.insert(event, null, this.#now());
      this.store.linkEvent(event.eventId, seq);
      return this.store.find(seq);
    });
    if (delivery === null) throw new Error("A delivery was written but cannot be read");
    const attempted = this.attempts.firstOutcomeOf(delivery);
    // A person who tests by hand has often just changed something.
    this.#handlerFor(key).requireVersion(Number.POSITIVE_INFINITY);
    this.attempts.runFirst(delivery.id);
    return { delivery, attempted };
  }

  /** The same, once per event ID: a repetition waits for the outcome of the first call. */
  enqueueFirstOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    const earlier = this.store.transaction(() => {
      this.store.open(key);
      const isNew = this.store.recordEventId(event.eventId, this.#now());
      return isNew ? null : this.store.findByEvent(event.eventId);
    });
    return earlier === null ? this.enqueueFirst(key, event).attempted : this.attempts.firstOutcomeOf(earlier);
  }

  expectChange(key: SubscriberKey): void {
    this.store.transaction(() => {
      this.store.open(key);
      this.#timed.expectChange(this.#now());
    });
    this.#planAlarm();
  }

  /** The row may be enabled again: the subscriber gets time to work off its backlog. */
  changed(version: number): void {
    const handler = this.#currentHandler();
    if (handler === null) return;
    handler.requireVersion(version);
    this.#backlog.forgive(this.#now());
    this.#timed.changed(this.#now());
    this.#continueTimed(handler);
    this.attempts.resume();
  }

  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    const replay = this.store.transaction(() => {
      this.store.open(key);
      return this.replay.start(request);
    });
    this.#continueReplay();
    return replay;
  }

  /** The alarm has fired. Never throws: the platform gives up alarms that fail repeatedly. */
  runAlarm(): void {
    this.#alarm.markFired();
    try {
      this.attempts.flush();
      this.store.transaction(() => {
        this.#retention.endSome();
        this.#retention.prune(this.#now());
      });
      const handler = this.#currentHandler();
      if (handler !== null) this.#continueTimed(handler);
      this.attempts.run();
      this.#continueReplay();
      if (handler !== null) this.#checkBacklog(handler);
    } catch (error) {
      this.#report("The alarm of a subscriber failed", error);
      this.#alarm.scheduleBy([this.#now() + WATCHDOG_MS]);
    }
  }

  wakeSoon(): void {
    this.#alarm.scheduleBy([this.#now()]);
  }

  /** Each end of an attempt plans again, so retention and backlog wait until none is in flight. */
  #planAlarm(): void {
    const now = this.#now();
    this.#alarm.scheduleBy([
      this.attempts.dueAt(now),
      this.replay.dueAt(),
      this.#timed.dueAt(),
      ...(this.attempts.isBusy
        ? [now + WATCHDOG_MS]
        : [this.#retention.dueAt(now), ...this.#backlog.dueAt(now)]),
    ]);
  }

  /** Removes everything, because the subscriber was deleted. No pending delivery starts any more. */
  async remove(): Promise<void> {
    this.attempts.clear();
    this.#handler?.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler?.release();
    this.#handler = null;
    this.#alarm.markFired();
    await this.store.clear();
  }

  #currentHandler(): DeliveryHandler | null {
    const key = this.store.readKey();
    return key && this.#handlerFor(key);
  }

  #handlerFor(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#ports.createHandler(key, this.#now, this.store.handlerState);
    return this.#handler;
  }

  #checkBacklog(handler: DeliveryHandler): void {
    const check = this.#backlog.check(handler, this.#now());
    this.#inBackground(check, "The backlog of a subscriber could not be acted on yet");
  }

  #continueTimed({ timetable }: DeliveryHandler): void {
    if (timetable === undefined || this.#timed.dueAt() === null) return;
    const step = async (): Promise<void> => {
      const result = await this.#timed.step(timetable, this.#now());
      if (result === "orphaned") await this.remove();
      if (result === "enqueued") this.attempts.run();
    };
    this.#inBackground(step(), "The schedule of a subscriber could not be read yet");
  }

  #continueReplay(): void {
    if (this.#retention.isEnding) return;
    const step = async (): Promise<void> => {
      if (await this.replay.step()) this.attempts.run();
    };
    this.#inBackground(step(), "Events could not be read from the log to send them again yet");
  }

  #inBackground(work: Promise<void>, failure: string): void {
    const done = work.catch((error: unknown) => this.#report(failure, error));
    this.#ctx.waitUntil(done.then(() => this.#planAlarm()));
  }

  #report(what: string, error: unknown): void {
    const key = this.store.readKey();
    const subscriber =
      key === null ? { object: String(this.#ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    reportFailure("delivery", what, subscriber, error);
  }
}
