/** The attempts of a subscriber: starts those that are due, and records how they ended. */

import { TIMED_OUT, withTimeLimit } from "../../platform/flow/concurrency.ts";
import type { DeliveryRecord } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { DeliveryHandler, DeliveryOutcome, FinalOutcome, HandledEvent } from "./handler.ts";
import { type Job, replayOfLane, Scheduler } from "./scheduler.ts";
import { countDeliveries, forgetError, recordAttempts, recordStreak } from "./stats-store.ts";

/** The pause after a failure of the service itself. */
const PAUSE_MS = 5_000;
/** The longest cooldown that a handler may ask for. */
const MAX_COOLDOWN_MS = 10_000;
/** The interval at which a suspended subscriber is read again, should the message of its change be lost. */
const SUSPENSION_CHECK_MS = 60 * 60 * 1000;
/**
 * A delivery is written once, in its final form, if its first attempt ends within this time. The room waits meanwhile,
 * with its events for others too.
 */
export const HELD_MS = 100;
/** Further deliveries are written before their attempts. */
const MAX_HELD = 16;
/** Outcomes are written together, because each write delays the next requests. */
const RECORD_AFTER_MS = 50;
const MAX_UNRECORDED = 64;
/** The bodies of one request, together; the first event is sent however large it is. */
const MAX_BATCH_CHARACTERS = 1024 * 1024;

interface AttemptPorts {
  now(): number;
  keepAlive(work: Promise<unknown>): void;
  /** The subscriber's handler; null while attempts may not start. */
  startingHandler(): DeliveryHandler | null;
  /** False once the subscriber was deleted: other rows may have the same numbers by now. */
  isCurrent(handler: DeliveryHandler): boolean;
  onOrphaned(): Promise<void>;
  /** A request has disabled the subscriber: deliveries enqueued up to this number end with the error, if any. */
  onDisabled(lastSeq: number, error: string | null): void;
  planAlarm(): void;
  report(what: string, error: unknown): void;
}

interface Ended {
  readonly job: Job;
  readonly outcome: FinalOutcome;
  /** True when an attempt has started, false when the delivery ends without one. */
  readonly isHandled: boolean;
}

const failure = (error: string): FinalOutcome => ({ type: "failed", attempt: null, error });

export class Attempts {
  readonly #store: DeliveryStore;
  /** Callers that wait for the first attempt of a delivery which they requested, by its number. */
  readonly #awaited = new Map<number, PromiseWithResolvers<void>>();
  readonly #ports: AttemptPorts;
  readonly #scheduler: Scheduler;
  /** Not in storage yet. A crash repeats their attempts, where that is allowed. */
  #unrecorded: Ended[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** False once a receiver was slow, until it is quick again. */
  #isQuick = true;
  /** Resolves with the next write of outcomes or held deliveries. */
  #nextWrite = Promise.withResolvers<void>();

  constructor(store: DeliveryStore, ports: AttemptPorts) {
    this.#store = store;
    this.#ports = ports;
    this.#scheduler = new Scheduler(store);
  }

  /** True while a crash would cut off attempts, or lose how they ended. */
  get isBusy(): boolean {
    return this.#scheduler.inFlight > 0 || this.#unrecorded.length > 0;
  }

  /** True while a crash would leave deliveries in storage whose attempts are cut off. */
  get needsWatchdog(): boolean {
    return this.isBusy && this.#store.oldestAt("pending") !== null;
  }

  isInFlight(seq: number): boolean {
    return this.#scheduler.isInFlight(seq);
  }

  /** The delivery after its first attempt; null when no record was kept. */
  async firstOutcomeOf(delivery: DeliveryRecord): Promise<DeliveryRecord | null> {
    const { seq, status } = delivery;
    if (status !== "pending") return delivery;
    const awaited = this.#awaited.get(seq) ?? Promise.withResolvers<void>();
    this.#awaited.set(seq, awaited);
    await awaited.promise;
    return this.#store.find(seq);
  }

  /** Whether so many deliveries may be held until their first attempts have ended. */
  mayHold(deliveries: number): boolean {
    const handler = this.#ports.startingHandler();
    if (handler === null || handler.interruption !== null || handler.batch !== null) return false;
    if (!this.#isQuick || this.#store.heldDeliveries + deliveries > MAX_HELD) return false;
    if (this.#store.hasFirsts(1)) return false;
    return this.#scheduler.canStart(this.#ports.now(), handler.pace, deliveries);
  }

  /** Resolves when storage has these deliveries; writes those whose attempts take long. Rejects when that fails. */
  async untilWritten(seqs: readonly number[]): Promise<void> {
    if (seqs.length === 0 || (await withTimeLimit(this.#written(seqs), HELD_MS)) !== TIMED_OUT) return;
    this.#isQuick = false;
    this.flush();
    if (seqs.some((seq) => this.#store.isHeld(seq))) throw new Error("Deliveries could not be written");
  }

  async #written(seqs: readonly number[]): Promise<void> {
    while (seqs.some((seq) => this.#store.isHeld(seq))) await this.#nextWrite.promise;
  }

  /** When the next attempt may start (epoch ms); null when none waits, or none can before one in flight has ended. */
  dueAt(now: number): number | null {
    return this.#scheduler.dueAt(now);
  }

  /** Starts every attempt that may start now, and has the alarm set for the rest. */
  run(): void {
    const handler = this.#ports.startingHandler();
    if (handler !== null) {
      for (const jobs of this.#start(handler)) this.#ports.keepAlive(this.#attempt(handler, jobs));
    }
    if (this.#scheduler.inFlight === 0) this.flush();
    this.#ports.planAlarm();
  }

  /** The same, and the lane takes the next turn. */
  runFirst(lane: string): void {
    this.#scheduler.prefer(lane);
    this.run();
  }

  resume(): void {
    this.#scheduler.resume();
    this.run();
  }

  #start({ batch, pace }: DeliveryHandler): Job[][] {
    const now = this.#ports.now();
    if (batch === null) return this.#scheduler.start(now, pace).map((job) => [job]);
    if (this.#scheduler.inFlight > 0) return [];
    this.flush(); // the batch below is read from storage
    const jobs = this.#scheduler.startBatch(now, pace, batch);
    return jobs.length === 0 ? [] : [jobs];
  }

  async #attempt(handler: DeliveryHandler, started: readonly Job[]): Promise<void> {
    const lastSeq = this.#store.lastSeq();
    const isOnce = handler.interruption !== null && (await this.#isOnce(handler, started));
    if (!this.#ports.isCurrent(handler)) return;
    let hasStarted = false;
    let jobs = started;
    try {
      const found = this.#find(started, isOnce);
      jobs = found.map(({ job }) => job);
      if (isOnce) for (const { seq } of jobs) await this.#store.markStarted(seq, this.#ports.now());
      hasStarted = isOnce;
      const [first, ...others] = found.map(({ event }) => event);
      if (first !== undefined) {
        const outcome = await handler.deliver(first, jobs[0]?.attempts ?? 0, others);
        if (!this.#ports.isCurrent(handler)) return;
        await this.#settle(jobs, outcome, isOnce, lastSeq);
      }
    } catch (error) {
      this.#ports.report("An attempt to deliver an event failed on the service's side", error);
      if (!this.#ports.isCurrent(handler)) return;
      // No outcome is recorded: the attempt is repeated, unless that is forbidden.
      for (const job of jobs) {
        if (hasStarted) this.#recordNow(job, failure("The outcome could not be recorded"), true);
        else this.#scheduler.postpone(job, this.#ports.now() + PAUSE_MS);
      }
    }
    this.run();
    const awaited = jobs.filter(({ seq }) => this.#awaited.has(seq));
    if (awaited.length > 0) this.flush();
    for (const { seq } of awaited) {
      this.#awaited.get(seq)?.resolve();
      this.#awaited.delete(seq);
    }
  }

  /** A delivery that a person requested and waits for is never repeated: the person sees its outcome. */
  async #isOnce(handler: DeliveryHandler, jobs: readonly Job[]): Promise<boolean> {
    if (jobs.some(({ seq }) => this.#awaited.has(seq))) return true;
    return !(await handler.mayRepeat?.());
  }

  /** The events of the jobs, as many as one request may have; the others start later. A missing event is over. */
  #find(started: readonly Job[], isOnce: boolean): { readonly job: Job; readonly event: HandledEvent }[] {
    const found: { job: Job; event: HandledEvent }[] = [];
    let characters = 0;
    for (const job of started) {
      const delivery = characters > MAX_BATCH_CHARACTERS ? undefined : this.#store.find(job.seq);
      characters += delivery?.body.length ?? 0;
      const isTooMuch = delivery === undefined || (found.length > 0 && characters > MAX_BATCH_CHARACTERS);
      if (delivery === null) this.#scheduler.settle(job);
      else if (isTooMuch) this.#scheduler.release(job);
      else found.push({ job, event: { ...delivery, replayId: replayOfLane(job.lane), isOnce } });
    }
    return found;
  }

  /** `lastSeq` is the newest delivery that was there when the attempt began. */
  async #settle(
    jobs: readonly Job[],
    outcome: DeliveryOutcome,
    isOnce: boolean,
    lastSeq: number,
  ): Promise<void> {
    const now = this.#ports.now();
    if (outcome.type === "orphaned") {
      await this.#ports.onOrphaned();
      return;
    }
    for (const job of jobs) this.#settleOne(job, outcome, isOnce, now);
    if (outcome.type === "disabled") {
      this.flush();
      this.#ports.onDisabled(lastSeq, outcome.error);
    } else if ("attempt" in outcome) this.#scheduler.coolDown(outcome.cooldownMs ?? 0, now, MAX_COOLDOWN_MS);
  }

  #settleOne(
    job: Job,
    outcome: Exclude<DeliveryOutcome, { readonly type: "orphaned" }>,
    isOnce: boolean,
    now: number,
  ): void {
    const isAwaited = this.#awaited.has(job.seq);
    switch (outcome.type) {
      case "disabled":
        this.#end(job, outcome.error);
        return;
      case "suspended":
        if (isAwaited) this.#recordNow(job, failure(outcome.why));
        else this.#postpone(job, now + SUSPENSION_CHECK_MS);
        return;
      case "postponed":
        if (isOnce && isAwaited) this.#recordNow(job, failure(outcome.why));
        else this.#postpone(job, outcome.until);
        return;
      default:
        if (isOnce) this.#recordNow(job, outcome, true);
        else this.#recordSoon(job, outcome);
    }
  }

  #postpone(job: Job, until: number): void {
    this.#store.clearStarted(job.seq);
    this.#scheduler.postpone(job, until);
  }

  /** Ends a delivery without an attempt. Leaves no record if there is no error. */
  #end(job: Job, error: string | null): void {
    if (error === null) {
      this.#store.remove(job.seq);
      forgetError(this.#store);
      this.#scheduler.settle(job);
    } else this.#recordNow(job, failure(error));
  }

  /** Earlier outcomes go first: the latest one says whether the subscriber fails. */
  #recordNow(job: Job, outcome: FinalOutcome, isHandled = false): void {
    this.#writeOutcomes();
    this.#record([{ job, outcome, isHandled }]);
    this.#scheduler.settle(job);
  }

  #recordSoon(job: Job, outcome: FinalOutcome): void {
    if ((outcome.attempt?.duration_ms ?? HELD_MS) < HELD_MS) this.#isQuick = true;
    this.#unrecorded.push({ job, outcome, isHandled: true });
    this.#scheduler.settle(job);
    if (this.#unrecorded.length >= MAX_UNRECORDED) this.flush();
    else
      this.#timer ??= setTimeout(() => {
        this.#writeOutcomes();
        this.#ports.planAlarm();
      }, RECORD_AFTER_MS);
  }

  /** Writes everything that is not in storage yet. A write that fails is reported, and repeated. */
  flush(): void {
    this.#writeOutcomes();
    try {
      this.#store.writeHeld();
    } catch (error) {
      this.#ports.report("The deliveries of a subscriber could not be written", error);
    }
    this.#announceWrite();
    this.#ports.planAlarm();
  }

  #announceWrite(): void {
    const { resolve } = this.#nextWrite;
    this.#nextWrite = Promise.withResolvers<void>();
    resolve();
  }

  /** Writes the outcomes that are not in storage yet, in one transaction. When that fails, their attempts are repeated. */
  #writeOutcomes(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const ended = this.#unrecorded;
    this.#unrecorded = [];
    try {
      if (ended.length > 0) this.#record(ended);
    } catch (error) {
      this.#ports.report("The outcomes of a subscriber's deliveries could not be recorded", error);
      this.#scheduler.pause(this.#ports.now() + PAUSE_MS);
    }
    this.#scheduler.forgetSettled();
    this.#announceWrite();
  }

  #record(ended: readonly Ended[]): void {
    this.#store.transaction(() => {
      const { countedSeq } = this.#store;
      for (const { job, outcome } of ended) this.#store.recordOutcome(job.seq, outcome);
      const counted = ended.filter(({ job }) => job.seq <= countedSeq).map(({ outcome }) => outcome);
      recordAttempts(this.#store, counted, this.#ports.now());
      const handled = ended.filter(({ isHandled }) => isHandled).map(({ outcome }) => outcome);
      recordStreak(this.#store, handled, this.#ports.now());
      countDeliveries(this.#store, this.#ports.now());
    });
    this.#store.release(ended.map(({ job }) => job.seq));
  }

  clear(): void {
    this.#scheduler.clear();
    this.#unrecorded = [];
    this.#announceWrite();
    for (const { resolve } of this.#awaited.values()) resolve();
    this.#awaited.clear();
  }
}
