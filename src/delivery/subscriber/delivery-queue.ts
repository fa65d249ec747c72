/** A subscriber's queue: what it is to be given is written down first, handed to its courier in turn, and noted. */
import { logLine } from "../../http/error-response.ts";
import { Alarm } from "../../platform/durable-alarm.ts";
import type { Courier, CourierMemory, Outcome } from "../handler.ts";
import type { Envelope, SubscriberKey } from "../subscriber-port.ts";
import { Records } from "./delivery-history.ts";
import { Deliveries } from "./delivery-store.ts";
import type { DeliveryRow } from "./delivery-table.ts";
import { failure, type Progress, progressOf } from "./progress.ts";
import { Drain, type Job } from "./scheduler.ts";
import { SubscriberStorage } from "./subscriber-storage.ts";

/** Within this time a crash is noticed: while anything is under way, an alarm is set that it would outlive. */
const WATCH_MS = 5_000;
/** An event that finds so many others waiting is not kept for delivery: its receiver has long been dead. */
export const MAX_WAITING = 50_000;
/** However much a subscriber has to rest, something is given to it now and then. */
const MAX_REST_MS = 10_000;

/** Which courier serves the subscriber: its kind decides. */
export type Hire = (key: SubscriberKey, memory: CourierMemory) => Courier;

/** A delivery that was asked for by hand. */
interface Asked {
  /** As it is now. */
  readonly row: DeliveryRow;
  /** As it is when its first attempt is over; null when nothing is kept of it. */
  readonly attempted: Promise<DeliveryRow | null>;
}

export class Queue {
  readonly records: Records;
  readonly #ctx: DurableObjectState;
  readonly #hire: Hire;
  /** Epoch milliseconds. */
  readonly #now: () => number;
  readonly #alarm: Alarm;
  readonly #storage: SubscriberStorage;
  readonly #deliveries: Deliveries;
  readonly #drain = new Drain();
  #courier: Courier | null = null;
  /** Those who wait for the first attempt of a delivery, by its seq. */
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  /** What an earlier life of the object left is taken up again, and what was cut off and may not be is over. */
  constructor(ctx: DurableObjectState, hire: Hire, now: () => number) {
    this.#ctx = ctx;
    this.#hire = hire;
    this.#now = now;
    this.#alarm = new Alarm(ctx);
    this.#storage = new SubscriberStorage(ctx.storage);
    this.#deliveries = new Deliveries(this.#storage);
    this.records = new Records(this.#storage);
    const key = this.#storage.readKey();
    const interruption = key === null ? null : this.#courierOf(key).interruption;
    if (interruption !== null) this.#deliveries.failBegun(interruption);
    for (const job of this.#deliveries.listPending()) this.#drain.add(job);
  }

  /** Takes each event once, by its id. When this returns they are on disk. */
  take(key: SubscriberKey, envelopes: readonly Envelope[], version: number): void {
    const now = this.#now();
    const jobs = this.#storage.transaction(() => {
      this.#storage.open(key);
      const fresh = envelopes.filter(({ eventId }) => this.#deliveries.know(eventId, now));
      this.records.prune(now);
      return fresh.flatMap((envelope) => this.#insert(envelope, envelope.roomId, now).job ?? []);
    });
    this.#courierOf(key).expect(version);
    for (const job of jobs) this.#drain.add(job);
    this.#run();
    this.#planAlarm();
  }

  /** Queues an event that was asked for by hand, in nobody's way. */
  ask(key: SubscriberKey, envelope: Envelope): Asked {
    const { seq, job } = this.#storage.transaction(() => {
      this.#storage.open(key);
      return this.#insert(envelope, null, this.#now());
    });
    const row = this.records.find(seq);
    if (row === null) throw new Error("A delivery was written and cannot be read");
    const attempted = this.#attempted(row);
    if (job === null) return { row, attempted };
    this.#courierOf(key).expect(Number.POSITIVE_INFINITY); // whoever asks by hand has just changed something
    this.#drain.add(job, "next");
    this.#run();
    this.#planAlarm();
    return { row, attempted };
  }

  /** The same, once by the event's id: who asks again is given what came of it. */
  askOnce(key: SubscriberKey, envelope: Envelope): Asked {
    const now = this.#now();
    const row = this.#storage.transaction(() => {
      this.#storage.open(key);
      this.records.prune(now);
      const isNew = this.#deliveries.know(envelope.eventId, now);
      return isNew ? null : this.records.findByEvent(envelope.eventId);
    });
    return row === null ? this.ask(key, envelope) : { row, attempted: this.#attempted(row) };
  }

  async #attempted(row: DeliveryRow): Promise<DeliveryRow | null> {
    if (row.status !== "pending") return row;
    const waiting = this.#waiting.get(row.seq) ?? Promise.withResolvers<void>();
    this.#waiting.set(row.seq, waiting);
    await waiting.promise;
    return this.records.find(row.seq);
  }

  /** Writes an event down; without a job it is over already, since too many wait. */
  #insert(
    envelope: Envelope,
    lane: string | null,
    now: number,
  ): { readonly seq: number; readonly job: Job | null } {
    const isFull = this.#drain.size >= MAX_WAITING;
    const id = crypto.randomUUID();
    const refusal = isFull ? "Too many events were waiting" : null;
    const job = this.#deliveries.insert({ id, envelope, lane: lane ?? id, now, refusal });
    return { seq: job.seq, job: isFull ? null : job };
  }

  /** What is remembered of the subscriber's row counts no more if its version is lower than this. */
  expect(version: number): void {
    this.#courier?.expect(version);
  }

  /** The subscriber was deleted: nothing of it stays, and nothing that waits is begun. */
  async forget(): Promise<void> {
    this.#drain.clear();
    this.expect(Number.POSITIVE_INFINITY);
    this.#courier = null;
    this.#alarm.forget();
    await this.#storage.clear();
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /** Looks after what is due. Never rejects, and always plans the next alarm: the platform gives one up that fails. */
  wake(): void {
    this.#alarm.forget();
    try {
      this.records.prune(this.#now());
      this.#run();
    } catch (error) {
      this.#complain("The alarm of a subscriber's object failed", error);
    } finally {
      this.#planAlarm();
    }
  }

  /** Starts what can be started. */
  #run(): void {
    const key = this.#storage.readKey();
    if (key === null) return;
    const courier = this.#courierOf(key);
    for (const job of this.#drain.start(this.#now())) this.#ctx.waitUntil(this.#attempt(courier, job));
  }

  async #attempt(courier: Courier, job: Job): Promise<void> {
    const isOnce = courier.interruption !== null;
    let isBegun = false;
    try {
      const envelope = this.#deliveries.findEnvelope(job.seq);
      if (isOnce) await this.#deliveries.begin(job.seq, this.#now());
      isBegun = isOnce;
      const outcome = envelope && (await courier.carry(envelope, job.attempts));
      if (courier !== this.#courier) return; // it was forgotten meanwhile: other rows have these numbers now
      if (outcome === null) this.#drain.settle(job, null);
      else await this.#settle(job, outcome, isOnce);
    } catch (error) {
      this.#complain("An attempt to deliver an event failed on our side", error);
      if (courier !== this.#courier) return;
      // Nothing was noted: it is made again, unless it may not be.
      if (isBegun) this.#note(job, failure("What came of it could not be recorded"));
      else this.#drain.postpone(job, this.#now() + WATCH_MS);
    }
    this.#waiting.get(job.seq)?.resolve();
    this.#waiting.delete(job.seq);
    this.#run();
    this.#planAlarm();
  }

  async #settle(job: Job, outcome: Outcome, isOnce: boolean): Promise<void> {
    if (outcome.type === "orphaned") await this.forget();
    else if (outcome.type === "unwanted") {
      this.#deliveries.remove(job.seq);
      this.#drain.settle(job, null);
    } else if (outcome.type !== "postponed") {
      this.#note(job, progressOf(outcome));
      if ("restMs" in outcome) this.#drain.rest(outcome.restMs ?? 0, this.#now(), MAX_REST_MS);
    } else if (isOnce && this.#waiting.has(job.seq)) this.#note(job, failure(outcome.why));
    else {
      this.#deliveries.unbegin(job.seq);
      this.#drain.postpone(job, outcome.until);
    }
  }

  #note(job: Job, progress: Progress): void {
    this.#storage.transaction(() => this.#deliveries.note(job.seq, progress));
    this.#drain.settle(job, progress.retryAt);
  }

  #courierOf(key: SubscriberKey): Courier {
    this.#courier ??= this.#hire(key, {
      read: () => this.#storage.readMemory(),
      write: (memory) => this.#storage.writeMemory(memory),
    });
    return this.#courier;
  }

  #planAlarm(): void {
    const now = this.#now();
    const watch = this.#drain.underWay > 0 ? now + WATCH_MS : null;
    this.#alarm.ringBy([this.#drain.dueAt(now), watch, this.records.forgetAt()]);
  }

  #complain(what: string, error: unknown): void {
    console.error(logLine(`subscriber ${this.#ctx.id}`, what, error));
  }
}
