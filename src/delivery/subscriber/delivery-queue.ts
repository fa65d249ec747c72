/** A subscriber's queue: what it is to be given is written down first, handed to its handler in turn, and noted. */

import { DurableAlarm } from "../../platform/durable-alarm.ts";
import { logError } from "../../platform/log.ts";
import type { DeliveryHandler, DeliveryOutcome, HandlerState } from "../handler.ts";
import type { OutgoingEvent, SubscriberKey } from "../subscriber-port.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryStore } from "./delivery-store.ts";
import type { DeliveryRow } from "./delivery-table.ts";
import { type DeliveryProgress, failure, progressOf } from "./progress.ts";
import { type Job, Scheduler } from "./scheduler.ts";
import { SubscriberStorage } from "./subscriber-storage.ts";

/** Within this time a crash is noticed: while anything is under way, an alarm is set that it would outlive. */
const WATCH_MS = 5_000;
/** An event that finds so many others waiting is not kept for delivery: its receiver has long been dead. */
export const MAX_WAITING = 50_000;
/** However much a subscriber has to rest, something is given to it now and then. */
const MAX_REST_MS = 10_000;

/** Which handler serves the subscriber: its kind decides. */
export type CreateHandler = (key: SubscriberKey, memory: HandlerState) => DeliveryHandler;

/** A delivery that was asked for by hand. */
interface ManualDelivery {
  /** As it is now. */
  readonly row: DeliveryRow;
  /** As it is when its first attempt is over; null when nothing is kept of it. */
  readonly attempted: Promise<DeliveryRow | null>;
}

export class DeliveryQueue {
  readonly history: DeliveryHistory;
  readonly #ctx: DurableObjectState;
  readonly #createHandler: CreateHandler;
  /** Epoch milliseconds. */
  readonly #now: () => number;
  readonly #alarm: DurableAlarm;
  readonly #storage: SubscriberStorage;
  readonly #store: DeliveryStore;
  readonly #scheduler = new Scheduler();
  #handler: DeliveryHandler | null = null;
  /** Those who wait for the first attempt of a delivery, by its seq. */
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  /** What an earlier life of the object left is taken up again, and what was cut off and may not be is over. */
  constructor(ctx: DurableObjectState, hire: CreateHandler, now: () => number) {
    this.#ctx = ctx;
    this.#createHandler = hire;
    this.#now = now;
    this.#alarm = new DurableAlarm(ctx);
    this.#storage = new SubscriberStorage(ctx.storage);
    this.#store = new DeliveryStore(this.#storage);
    this.history = new DeliveryHistory(this.#storage);
    const key = this.#storage.readKey();
    const interruption = key === null ? null : this.#handlerOf(key).interruption;
    if (interruption !== null) this.#store.failStarted(interruption);
    for (const job of this.#store.listPending()) this.#scheduler.add(job);
  }

  /** Takes each event once, by its id. When this returns they are on disk. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    const now = this.#now();
    const jobs = this.#storage.transaction(() => {
      this.#storage.open(key);
      const fresh = events.filter(({ eventId }) => this.#store.recordEventId(eventId, now));
      this.history.prune(now);
      return fresh.flatMap((envelope) => this.#insert(envelope, envelope.roomId, now).job ?? []);
    });
    this.#handlerOf(key).requireVersion(version);
    for (const job of jobs) this.#scheduler.add(job);
    this.#run();
    this.#planAlarm();
  }

  /** Queues an event that was asked for by hand, in nobody's way. */
  enqueueManual(key: SubscriberKey, envelope: OutgoingEvent): ManualDelivery {
    const { seq, job } = this.#storage.transaction(() => {
      this.#storage.open(key);
      return this.#insert(envelope, null, this.#now());
    });
    const row = this.history.find(seq);
    if (row === null) throw new Error("A delivery was written and cannot be read");
    const attempted = this.#attempted(row);
    if (job === null) return { row, attempted };
    this.#handlerOf(key).requireVersion(Number.POSITIVE_INFINITY); // whoever asks by hand has just changed something
    this.#scheduler.add(job, "next");
    this.#run();
    this.#planAlarm();
    return { row, attempted };
  }

  /** The same, once by the event's id: who asks again is given what came of it. */
  enqueueManualOnce(key: SubscriberKey, envelope: OutgoingEvent): ManualDelivery {
    const now = this.#now();
    const row = this.#storage.transaction(() => {
      this.#storage.open(key);
      this.history.prune(now);
      const isNew = this.#store.recordEventId(envelope.eventId, now);
      return isNew ? null : this.history.findByEvent(envelope.eventId);
    });
    return row === null ? this.enqueueManual(key, envelope) : { row, attempted: this.#attempted(row) };
  }

  async #attempted(row: DeliveryRow): Promise<DeliveryRow | null> {
    if (row.status !== "pending") return row;
    const waiting = this.#waiting.get(row.seq) ?? Promise.withResolvers<void>();
    this.#waiting.set(row.seq, waiting);
    await waiting.promise;
    return this.history.find(row.seq);
  }

  /** Writes an event down; without a job it is over already, since too many wait. */
  #insert(
    envelope: OutgoingEvent,
    lane: string | null,
    now: number,
  ): { readonly seq: number; readonly job: Job | null } {
    const isFull = this.#scheduler.size >= MAX_WAITING;
    const id = crypto.randomUUID();
    const refusal = isFull ? "Too many events were waiting" : null;
    const job = this.#store.insert({ id, envelope, lane: lane ?? id, now, refusal });
    return { seq: job.seq, job: isFull ? null : job };
  }

  /** What is remembered of the subscriber's row counts no more if its version is lower than this. */
  requireVersion(version: number): void {
    this.#handler?.requireVersion(version);
  }

  /** The subscriber was deleted: nothing of it stays, and nothing that waits is begun. */
  async clear(): Promise<void> {
    this.#scheduler.clear();
    this.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler = null;
    this.#alarm.markFired();
    await this.#storage.clear();
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /** Looks after what is due. Never rejects, and always plans the next alarm: the platform gives one up that fails. */
  wake(): void {
    this.#alarm.markFired();
    try {
      this.history.prune(this.#now());
      this.#run();
    } catch (error) {
      this.#logError("The alarm of a subscriber's object failed", error);
    } finally {
      this.#planAlarm();
    }
  }

  /** Starts what can be started. */
  #run(): void {
    const key = this.#storage.readKey();
    if (key === null) return;
    const handler = this.#handlerOf(key);
    for (const job of this.#scheduler.start(this.#now())) this.#ctx.waitUntil(this.#attempt(handler, job));
  }

  async #attempt(handler: DeliveryHandler, job: Job): Promise<void> {
    const isOnce = handler.interruption !== null;
    let isBegun = false;
    try {
      const envelope = this.#store.findEnvelope(job.seq);
      if (isOnce) await this.#store.markStarted(job.seq, this.#now());
      isBegun = isOnce;
      const outcome = envelope && (await handler.deliver(envelope, job.attempts));
      if (handler !== this.#handler) return; // it was forgotten meanwhile: other rows have these numbers now
      if (outcome === null) this.#scheduler.settle(job, null);
      else await this.#settle(job, outcome, isOnce);
    } catch (error) {
      this.#logError("An attempt to deliver an event failed on our side", error);
      if (handler !== this.#handler) return;
      // Nothing was noted: it is made again, unless it may not be.
      if (isBegun) this.#note(job, failure("What came of it could not be recorded"));
      else this.#scheduler.postpone(job, this.#now() + WATCH_MS);
    }
    this.#waiting.get(job.seq)?.resolve();
    this.#waiting.delete(job.seq);
    this.#run();
    this.#planAlarm();
  }

  async #settle(job: Job, outcome: DeliveryOutcome, isOnce: boolean): Promise<void> {
    if (outcome.type === "orphaned") await this.clear();
    else if (outcome.type === "unwanted") {
      this.#store.remove(job.seq);
      this.#scheduler.settle(job, null);
    } else if (outcome.type !== "postponed") {
      this.#note(job, progressOf(outcome));
      if ("restMs" in outcome) this.#scheduler.rest(outcome.restMs ?? 0, this.#now(), MAX_REST_MS);
    } else if (isOnce && this.#waiting.has(job.seq)) this.#note(job, failure(outcome.why));
    else {
      this.#store.clearStarted(job.seq);
      this.#scheduler.postpone(job, outcome.until);
    }
  }

  #note(job: Job, progress: DeliveryProgress): void {
    this.#storage.transaction(() => this.#store.recordProgress(job.seq, progress));
    this.#scheduler.settle(job, progress.retryAt);
  }

  #handlerOf(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#createHandler(key, {
      read: () => this.#storage.readMemory(),
      write: (memory) => this.#storage.writeMemory(memory),
    });
    return this.#handler;
  }

  #planAlarm(): void {
    const now = this.#now();
    const watch = this.#scheduler.inFlight > 0 ? now + WATCH_MS : null;
    this.#alarm.scheduleBy([this.#scheduler.dueAt(now), watch, this.history.forgetAt()]);
  }

  #logError(what: string, error: unknown): void {
    const key = this.#storage.readKey();
    logError(
      what,
      { account: key?.accountId, [key?.kind ?? "object"]: key?.id ?? String(this.#ctx.id) },
      error,
    );
  }
}
