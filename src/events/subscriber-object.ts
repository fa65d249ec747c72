/** The Durable Object of one subscriber: a durable queue of the events that it is to be given, and of what became of them. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { logLine } from "../http/on-error.ts";
import { WebhookCourier } from "../webhooks/courier.ts";
import type { Courier, Outcome } from "./courier.ts";
import { Deliveries, type Progress } from "./deliveries.ts";
import { Drain, type Job } from "./drain.ts";
import type { Delivery, Envelope, SubscriberKey } from "./subscriber.ts";

/** Within this time a crash is noticed: while anything is under way, an alarm is set that it would outlive. */
const WATCH_MS = 5_000;
/** An event that finds so many others waiting is not kept for delivery: its receiver has long been dead. */
export const MAX_WAITING = 50_000;

export class SubscriberObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests put their own clock here. */
  clock: () => number = () => Date.now();

  readonly #deliveries: Deliveries;
  readonly #drain = new Drain();
  #courier: Courier | null = null;
  /** Setting an alarm is a write to storage: one that is set is remembered, and only an earlier one replaces it. */
  #alarmAt: number | null = null;
  /** Those who wait for the first attempt of a delivery, by its seq. */
  readonly #waiting = new Map<number, () => void>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#deliveries = new Deliveries(ctx.storage);
    for (const job of this.#deliveries.listPending()) this.#drain.add(job);
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
    });
  }

  /** Takes each event once, by its id. When this returns they are on disk. */
  take(key: SubscriberKey, envelopes: readonly Envelope[], version: number): void {
    const now = this.clock();
    const jobs = this.#deliveries.transaction(() => {
      this.#deliveries.open(key);
      const fresh = envelopes.filter(({ eventId }) => this.#deliveries.know(eventId, now));
      this.#deliveries.prune(now);
      return fresh.flatMap((envelope) => this.#insert(envelope, envelope.roomId, now));
    });
    this.#courierOf(key).expect(version);
    this.#begin(jobs);
  }

  #insert(envelope: Envelope, lane: string | null, now: number): Job[] {
    const isFull = this.#drain.size >= MAX_WAITING;
    const id = crypto.randomUUID();
    const refusal = isFull ? "Too many deliveries were waiting" : null;
    const job = this.#deliveries.insert({ id, envelope, lane: lane ?? id, now, refusal });
    return isFull ? [] : [job];
  }

  #begin(jobs: readonly Job[]): void {
    for (const job of jobs) this.#drain.add(job);
    this.#run();
    this.#planAlarm();
  }

  /** Reading creates nothing: a subscriber that was never given anything has an empty list. */
  listDeliveries(
    status: Delivery["status"] | undefined,
    limit: number,
    offset: number,
  ): { deliveries: Delivery[]; total: number } {
    return this.#deliveries.list(status, limit, offset);
  }

  /** Queues the event of an earlier delivery once more, in nobody's way; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): Delivery | null {
    const envelope = this.#deliveries.findEnvelopeOf(deliveryId);
    if (envelope === null) return null;
    const [delivery] = this.#deliver(key, envelope);
    return delivery;
  }

  /** Queues an event in nobody's way, and waits until the first attempt is over. */
  async send(key: SubscriberKey, envelope: Envelope): Promise<Delivery> {
    const [delivery, attempted] = this.#deliver(key, envelope);
    const seq = await attempted;
    return this.#deliveries.find(seq) ?? delivery;
  }

  #deliver(key: SubscriberKey, envelope: Envelope): [Delivery, Promise<number>] {
    const now = this.clock();
    const jobs = this.#deliveries.transaction(() => {
      this.#deliveries.open(key);
      return this.#insert(envelope, null, now);
    });
    this.#courierOf(key).expect(Number.POSITIVE_INFINITY); // whoever asks by hand has just changed something
    const [job] = jobs;
    if (job === undefined) throw new Error("Too many deliveries are waiting");
    const attempted = new Promise<number>((resolve) => {
      this.#waiting.set(job.seq, () => resolve(job.seq));
    });
    this.#begin(jobs);
    const delivery = this.#deliveries.find(job.seq);
    if (delivery === null) throw new Error("A delivery was written and cannot be read");
    return [delivery, attempted];
  }

  /** The subscriber was deleted: nothing of it stays, the alarm included. */
  async forget(): Promise<void> {
    this.#drain.clear();
    this.#courier = null; // what it remembers of the subscriber's row is no longer true
    this.#alarmAt = null;
    await this.#deliveries.clear();
  }

  /** Catches everything and always plans the next alarm: the platform gives an alarm up after six failures. */
  override alarm(): void {
    this.#alarmAt = null;
    try {
      this.#deliveries.prune(this.clock());
      this.#run();
    } catch (error) {
      this.#complain("The alarm of a subscriber's object failed", error);
    } finally {
      this.#planAlarm();
    }
  }

  /** Starts what can be started. */
  #run(): void {
    const key = this.#deliveries.readKey();
    if (key === null) return;
    for (const job of this.#drain.start(this.clock())) this.ctx.waitUntil(this.#attempt(key, job));
  }

  async #attempt(key: SubscriberKey, job: Job): Promise<void> {
    try {
      const envelope = this.#deliveries.findEnvelope(job.seq);
      if (envelope === null) this.#drain.settle(job, null);
      else await this.#settle(job, await this.#courierOf(key).carry(envelope, job.attempts));
    } catch (error) {
      // Nothing was noted: the delivery is as it was, and the alarm that watches makes the attempt again.
      this.#complain("An attempt to deliver an event failed on our side", error);
      this.#drain.postpone(job, this.clock() + WATCH_MS);
    }
    this.#waiting.get(job.seq)?.();
    this.#waiting.delete(job.seq);
    this.#run();
    this.#planAlarm();
  }

  async #settle(job: Job, outcome: Outcome): Promise<void> {
    if (outcome.type === "postponed") this.#drain.postpone(job, outcome.until);
    else if (outcome.type === "orphaned") await this.forget();
    else {
      const progress = progressOf(outcome);
      this.#deliveries.transaction(() => this.#deliveries.note(job.seq, progress));
      this.#drain.settle(job, progress.retryAt);
    }
  }

  /** Which kind of subscriber this is, the courier is. */
  #courierOf({ accountId, id }: SubscriberKey): Courier {
    this.#courier ??= new WebhookCourier(this.env, { accountId, id }, () => this.clock(), {
      read: () => this.#deliveries.readMemory(),
      write: (memory) => this.#deliveries.writeMemory(memory),
    });
    return this.#courier;
  }

  #planAlarm(): void {
    const now = this.clock();
    const watch = this.#drain.underWay > 0 ? now + WATCH_MS : null;
    const times = [this.#drain.dueAt(now), watch, this.#deliveries.forgetAt()].filter((at) => at !== null);
    const next = Math.min(...times);
    if (!Number.isFinite(next) || (this.#alarmAt !== null && this.#alarmAt <= next)) return;
    this.#alarmAt = next;
    void this.ctx.storage.setAlarm(next);
  }

  #complain(what: string, error: unknown): void {
    console.error(logLine(`subscriber ${this.ctx.id}`, what, error));
  }
}

function progressOf(outcome: Exclude<Outcome, { type: "postponed" | "orphaned" }>): Progress {
  switch (outcome.type) {
    case "delivered":
      return { status: "success", retryAt: null, attempt: outcome.attempt, error: null };
    case "retry":
      return {
        status: "pending",
        retryAt: outcome.at,
        attempt: outcome.attempt,
        error: outcome.attempt.error,
      };
    case "failed":
      return { status: "failed", retryAt: null, attempt: outcome.attempt, error: outcome.attempt.error };
    case "skipped":
      return { status: "failed", retryAt: null, attempt: null, error: outcome.why };
  }
}
