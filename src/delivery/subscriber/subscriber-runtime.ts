/** The runtime of one subscriber: creates the parts of its object, connects them, and plans their alarm. */
import { DurableAlarm } from "../../platform/objects/durable-alarm.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import { Attempts, FirstAttempts } from "./attempts.ts";
import type { DeliveryRecord } from "./delivery.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryStore } from "./delivery-store.ts";
import type { DeliveryHandler, SubscriberPorts } from "./handler.ts";
import { SubscriberMaintenance } from "./subscriber-maintenance.ts";

/** While attempts are in flight, an alarm is set this far ahead: it outlives a crash and takes them up again. */
const WATCHDOG_MS = 5_000;

export class SubscriberRuntime {
  readonly store: DeliveryStore;
  readonly history: DeliveryHistory;
  readonly manual: ManualDeliveries;
  readonly attempts: Attempts;
  readonly maintenance: SubscriberMaintenance;
  readonly #ctx: DurableObjectState;
  readonly #ports: SubscriberPorts;
  readonly #now: () => number;
  readonly #alarm: DurableAlarm;
  readonly #firstAttempts: FirstAttempts;
  #handler: DeliveryHandler | null = null;

  /** Resumes what is pending in storage. Attempts that were cut off and must not be repeated fail. `now` returns epoch milliseconds. */
  constructor(ctx: DurableObjectState, ports: SubscriberPorts, now: () => number) {
    const store = new DeliveryStore(ctx.storage);
    this.#ctx = ctx;
    this.#ports = ports;
    this.#now = now;
    this.store = store;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of a subscriber could not be set", error),
    );
    this.history = new DeliveryHistory(store);
    this.#firstAttempts = new FirstAttempts(store);
    this.manual = new ManualDeliveries(store, this.#firstAttempts, {
      now,
      start: (key, deliveryId) => {
        // A person who tests by hand has often just changed something.
        this.handlerFor(key).requireVersion(Number.POSITIVE_INFINITY);
        this.attempts.runFirst(deliveryId);
      },
    });
    this.maintenance = new SubscriberMaintenance(store, {
      now,
      limits: ports.limits,
      readLog: ports.readLog,
      reportWaiting: ports.reportWaiting,
      inBackground: (work, failure) => this.#inBackground(work, failure),
      onEnqueued: () => this.attempts.run(),
      onOrphaned: () => this.remove(),
    });
    this.attempts = new Attempts(store, this.#firstAttempts, {
      now,
      keepAlive: (work) => ctx.waitUntil(work),
      startingHandler: () => (this.maintenance.isEnding ? null : this.currentHandler()),
      isCurrent: (handler) => handler === this.#handler,
      onOrphaned: () => this.remove(),
      onDisabled: (lastSeq, error) => {
        this.maintenance.endWaiting(lastSeq, error);
        if (this.maintenance.isEnding) this.wakeSoon();
      },
      planAlarm: () => this.planAlarm(),
      report: (what, error) => this.#report(what, error),
    });
    const interruption = this.currentHandler()?.interruption ?? null;
    if (interruption !== null) store.failStarted(interruption);
  }

  /** The alarm has fired. Never throws: the platform gives up alarms that fail repeatedly. */
  runAlarm(): void {
    this.#alarm.markFired();
    try {
      this.attempts.flush();
      this.maintenance.clean();
      const handler = this.currentHandler();
      if (handler !== null) this.maintenance.continueTimed(handler);
      this.attempts.run();
      this.maintenance.continueReplay();
      if (handler !== null) this.maintenance.checkBacklog(handler);
    } catch (error) {
      this.#report("The alarm of a subscriber failed", error);
      this.#alarm.scheduleBy([this.#now() + WATCHDOG_MS]);
    }
  }

  /** Has the alarm find what is due. */
  wakeSoon(): void {
    this.#alarm.scheduleBy([this.#now()]);
  }

  /** While attempts are in flight, each of their ends comes here again: the rest can wait until none is. */
  planAlarm(): void {
    const now = this.#now();
    this.#alarm.scheduleBy([
      this.attempts.dueAt(now),
      ...this.maintenance.enqueuingDueAt(),
      ...(this.attempts.isBusy ? [now + WATCHDOG_MS] : this.maintenance.dueAt(now)),
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
    this.#firstAttempts.answerAll();
  }

  /** Null before the first write. */
  currentHandler(): DeliveryHandler | null {
    const key = this.store.readKey();
    return key && this.handlerFor(key);
  }

  handlerFor(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#ports.createHandler(key, this.#now, this.store.handlerState);
    return this.#handler;
  }

  #inBackground(work: Promise<void>, failure: string): void {
    const done = work.catch((error: unknown) => this.#report(failure, error));
    this.#ctx.waitUntil(done.then(() => this.planAlarm()));
  }

  #report(what: string, error: unknown): void {
    const key = this.store.readKey();
    const subscriber =
      key === null ? { object: String(this.#ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    reportFailure("delivery", what, subscriber, error);
  }
}

/** A delivery requested by hand. */
interface ManualDelivery {
  /** As it is now. */
  readonly delivery: DeliveryRecord;
  /** As it is after its first attempt; null when no record was kept. */
  readonly attempted: Promise<DeliveryRecord | null>;
}

/** The queue, as manual deliveries use it. */
interface ManualPorts {
  /** Epoch milliseconds. */
  now(): number;
  /** Starts the stored delivery before all others. */
  start(key: SubscriberKey, deliveryId: string): void;
}

class ManualDeliveries {
  readonly #store: DeliveryStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #ports: ManualPorts;

  constructor(store: DeliveryStore, firstAttempts: FirstAttempts, ports: ManualPorts) {
    this.#store = store;
    this.#firstAttempts = firstAttempts;
    this.#ports = ports;
  }

  enqueue(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const delivery = this.#store.transaction(() => {
      this.#store.open(key);
      const seq = this.#store.insert(event, null, this.#ports.now());
      this.#store.linkEvent(event.eventId, seq);
      return this.#store.find(seq);
    });
    if (delivery === null) throw new Error("A delivery was written but cannot be read");
    const attempted = this.#firstAttempts.wait(delivery);
    this.#ports.start(key, delivery.id);
    return { delivery, attempted };
  }

  /** The same, once per event id: a repetition waits for the outcome of the first call. */
  enqueueOnce(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const now = this.#ports.now();
    const earlier = this.#store.transaction(() => {
      this.#store.open(key);
      const isNew = this.#store.recordEventId(event.eventId, now);
      return isNew ? null : this.#store.findByEvent(event.eventId);
    });
    return earlier === null
      ? this.enqueue(key, event)
      : { delivery: earlier, attempted: this.#firstAttempts.wait(earlier) };
  }
}
