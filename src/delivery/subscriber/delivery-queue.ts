/** A subscriber's queue: stores events, has the handler deliver them in order, and records the outcomes. */
import { DurableAlarm } from "../../platform/durable-alarm.ts";
import { logError } from "../../platform/log.ts";
import type { DeliveryHandler, DeliveryOutcome, FinalOutcome, HandlerState } from "../handler.ts";
import type { DeliveryRecord, OutgoingEvent, SubscriberKey } from "../port/subscriber-port.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { type Job, Scheduler } from "./scheduler.ts";

/** While attempts are in flight, an alarm is set this far ahead: it outlives a crash and takes them up again. */
const WATCHDOG_MS = 5_000;
/** A receiver with this many pending events has been dead for long: further events fail at once. */
export const MAX_WAITING = 50_000;
/** However long a handler asks to rest, deliveries go on after this time. */
const MAX_REST_MS = 10_000;

/** Creates the handler for the subscriber's kind. */
export type CreateHandler = (key: SubscriberKey, state: HandlerState) => DeliveryHandler;

/** A delivery requested by hand. */
interface ManualDelivery {
  /** As it is now. */
  readonly delivery: DeliveryRecord;
  /** As it is after its first attempt; null when no record was kept. */
  readonly attempted: Promise<DeliveryRecord | null>;
}

const failure = (error: string): FinalOutcome => ({ type: "failed", attempt: null, error });

export class DeliveryQueue {
  readonly history: DeliveryHistory;
  readonly #ctx: DurableObjectState;
  readonly #createHandler: CreateHandler;
  /** Epoch milliseconds. */
  readonly #now: () => number;
  readonly #alarm: DurableAlarm;
  readonly #store: DeliveryStore;
  readonly #scheduler = new Scheduler();
  #handler: DeliveryHandler | null = null;
  /** Callers waiting for the first attempt of a delivery, by its seq. */
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  /** Resumes what is pending in storage. Attempts that were cut off and must not be repeated fail. */
  constructor(ctx: DurableObjectState, createHandler: CreateHandler, now: () => number) {
    this.#ctx = ctx;
    this.#createHandler = createHandler;
    this.#now = now;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#logError("The alarm of a subscriber could not be set", error),
    );
    this.#store = new DeliveryStore(ctx.storage);
    this.history = new DeliveryHistory(this.#store);
    const key = this.#store.readKey();
    const interruption = key === null ? null : this.#handlerFor(key).interruption;
    if (interruption !== null) this.#store.failStarted(interruption);
    for (const job of this.#store.listPending()) this.#scheduler.add(job);
  }

  /** Enqueues each event once, by its id. They are stored when this returns. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    const now = this.#now();
    const jobs = this.#store.transaction(() => {
      this.#store.open(key);
      const fresh = events.filter(({ eventId }) => this.#store.recordEventId(eventId, now));
      this.#store.prune(now);
      return fresh.flatMap((event) => this.#insert(event, event.roomId, now).job ?? []);
    });
    this.#handlerFor(key).requireVersion(version);
    for (const job of jobs) this.#scheduler.add(job);
    this.#run();
  }

  /** Enqueues an event by hand, ahead of the others and in a lane of its own. */
  enqueueManual(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const { seq, job } = this.#store.transaction(() => {
      this.#store.open(key);
      return this.#insert(event, null, this.#now());
    });
    const delivery = this.#store.find(seq);
    if (delivery === null) throw new Error("A delivery was written but cannot be read");
    const attempted = this.#firstAttempt(delivery);
    if (job === null) return { delivery, attempted };
    // A person who tests by hand has often just changed something.
    this.#handlerFor(key).requireVersion(Number.POSITIVE_INFINITY);
    this.#scheduler.add(job, "next");
    this.#run();
    return { delivery, attempted };
  }

  /** The same, once per event id: a repetition waits for the outcome of the first call. */
  enqueueManualOnce(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const now = this.#now();
    const earlier = this.#store.transaction(() => {
      this.#store.open(key);
      this.#store.prune(now);
      const isNew = this.#store.recordEventId(event.eventId, now);
      return isNew ? null : this.history.findByEvent(event.eventId);
    });
    return earlier === null
      ? this.enqueueManual(key, event)
      : { delivery: earlier, attempted: this.#firstAttempt(earlier) };
  }

  async #firstAttempt(delivery: DeliveryRecord): Promise<DeliveryRecord | null> {
    if (delivery.status !== "pending") return delivery;
    const waiting = this.#waiting.get(delivery.seq) ?? Promise.withResolvers<void>();
    this.#waiting.set(delivery.seq, waiting);
    await waiting.promise;
    return this.#store.find(delivery.seq);
  }

  /** Stores a delivery. Without a job it has failed already, because too many are pending. */
  #insert(
    event: OutgoingEvent,
    lane: string | null,
    now: number,
  ): { readonly seq: number; readonly job: Job | null } {
    const isFull = this.#scheduler.size >= MAX_WAITING;
    const id = crypto.randomUUID();
    const refusal = isFull ? "Too many events were already waiting" : null;
    const job = this.#store.insert({ id, event, lane: lane ?? id, now, refusal });
    return { seq: job.seq, job: isFull ? null : job };
  }

  /** From now on the handler uses no cached row of a lower version. */
  requireVersion(version: number): void {
    this.#handler?.requireVersion(version);
  }

  /** Removes everything, because the subscriber was deleted. No pending delivery starts any more. */
  async clear(): Promise<void> {
    this.#scheduler.clear();
    this.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler = null;
    this.#alarm.markFired();
    await this.#store.clear();
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /** Does what is due when the alarm fires. Never throws: the platform gives up alarms that fail repeatedly. */
  wake(): void {
    this.#alarm.markFired();
    try {
      this.#store.prune(this.#now());
      this.#run();
    } catch (error) {
      this.#logError("The alarm of a subscriber failed", error);
      this.#scheduleAlarm();
    }
  }

  /** Starts every attempt that may start now, and sets the alarm for the rest. */
  #run(): void {
    const key = this.#store.readKey();
    if (key !== null) {
      const handler = this.#handlerFor(key);
      const jobs = this.#scheduler.start(this.#now(), handler.maxInFlight);
      for (const job of jobs) this.#ctx.waitUntil(this.#attempt(handler, job));
    }
    this.#scheduleAlarm();
  }

  async #attempt(handler: DeliveryHandler, job: Job): Promise<void> {
    const isOnce = handler.interruption !== null;
    let hasStarted = false;
    try {
      const delivery = this.#store.find(job.seq);
      if (isOnce) await this.#store.markStarted(job.seq, this.#now());
      hasStarted = isOnce;
      const outcome = delivery && (await handler.deliver(delivery, job.attempts));
      if (handler !== this.#handler) return; // cleared meanwhile: other rows may have these numbers now
      if (outcome === null) this.#scheduler.settle(job, null);
      else await this.#settle(job, outcome, isOnce);
    } catch (error) {
      this.#logError("An attempt to deliver an event failed on the service's side", error);
      if (handler !== this.#handler) return;
      // No outcome is recorded: the attempt is repeated, unless that is forbidden.
      if (hasStarted) this.#record(job, failure("The outcome could not be recorded"));
      else this.#scheduler.postpone(job, this.#now() + WATCHDOG_MS);
    }
    this.#waiting.get(job.seq)?.resolve();
    this.#waiting.delete(job.seq);
    this.#run();
  }

  async #settle(job: Job, outcome: DeliveryOutcome, isOnce: boolean): Promise<void> {
    switch (outcome.type) {
      case "orphaned":
        await this.clear();
        return;
      case "unwanted":
        this.#store.remove(job.seq);
        this.#scheduler.settle(job, null);
        return;
      case "postponed":
        if (isOnce && this.#waiting.has(job.seq)) this.#record(job, failure(outcome.why));
        else {
          this.#store.clearStarted(job.seq);
          this.#scheduler.postpone(job, outcome.until);
        }
        return;
      default:
        this.#record(job, outcome);
        if ("restMs" in outcome) this.#scheduler.rest(outcome.restMs ?? 0, this.#now(), MAX_REST_MS);
    }
  }

  #record(job: Job, outcome: FinalOutcome): void {
    this.#store.transaction(() => this.#store.recordOutcome(job.seq, outcome));
    this.#scheduler.settle(job, outcome.type === "retry" ? outcome.at : null);
  }

  #handlerFor(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#createHandler(key, this.#store.handlerState);
    return this.#handler;
  }

  #scheduleAlarm(): void {
    const now = this.#now();
    const watchdogAt = this.#scheduler.inFlight > 0 ? now + WATCHDOG_MS : null;
    this.#alarm.scheduleBy([this.#scheduler.dueAt(now), watchdogAt, this.#store.pruneAt()]);
  }

  #logError(message: string, error: unknown): void {
    const key = this.#store.readKey();
    const subscriber =
      key === null ? { object: String(this.#ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    logError(message, subscriber, error);
  }
}
