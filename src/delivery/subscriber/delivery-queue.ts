/** A subscriber's queue: stores events, has the handler deliver them in order, and records the outcomes. */
import type { LogQuery, LogSlice } from "../../event-log/port/event-log-port.ts";
import { DurableAlarm } from "../../platform/durable-alarm.ts";
import { logError } from "../../platform/log.ts";
import type { DeliveryHandler, DeliveryOutcome, FinalOutcome, HandlerState } from "../handler.ts";
import type { StatsRange, SubscriberStats } from "../port/delivery-stats.ts";
import { type ReplayRecord, type ReplayRequest, replayOfLane } from "../port/replay.ts";
import type { OutgoingEvent, SubscriberKey } from "../port/subscriber-port.ts";
import { BacklogGuard, type BacklogLimits } from "./backlog-guard.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryRetention } from "./delivery-retention.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { FirstAttempts } from "./first-attempts.ts";
import { ManualDeliveries } from "./manual-deliveries.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { Replay } from "./replay.ts";
import { type Job, Scheduler } from "./scheduler.ts";
import { StatsStore } from "./stats-store.ts";

/** While attempts are in flight, an alarm is set this far ahead: it outlives a crash and takes them up again. */
const WATCHDOG_MS = 5_000;
/** However long a handler asks to rest, deliveries go on after this time. */
const MAX_REST_MS = 10_000;
/** How often a suspended subscriber is looked up, should the message that it was enabled have been lost. */
const SUSPENSION_CHECK_MS = 60 * 60 * 1000;
/** Creates the handler for the subscriber's kind. */
export type CreateHandler = (key: SubscriberKey, state: HandlerState) => DeliveryHandler;

/** Reads a shard of the organization's event log. */
export type ReadLog = (accountId: string, shard: number, query: LogQuery) => Promise<LogSlice>;

const failure = (error: string): FinalOutcome => ({ type: "failed", attempt: null, error });

export class DeliveryQueue {
  readonly manual: ManualDeliveries;
  readonly #ctx: DurableObjectState;
  readonly #createHandler: CreateHandler;
  /** Epoch milliseconds. */
  readonly #now: () => number;
  readonly #alarm: DurableAlarm;
  readonly #store: DeliveryStore;
  readonly #history: DeliveryHistory;
  readonly #retention: DeliveryRetention;
  readonly #backlog: BacklogGuard;
  readonly #scheduler: Scheduler;
  readonly #outcomes: OutcomeRecorder;
  readonly #firstAttempts: FirstAttempts;
  readonly #replay: Replay;
  #handler: DeliveryHandler | null = null;
  /** The number of the newest delivery. */
  #lastSeq: number;

  /** Resumes what is pending in storage. Attempts that were cut off and must not be repeated fail. */
  constructor(
    ctx: DurableObjectState,
    createHandler: CreateHandler,
    now: () => number,
    limits: BacklogLimits,
    readLog: ReadLog,
  ) {
    this.#ctx = ctx;
    this.#createHandler = createHandler;
    this.#now = now;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#logError("The alarm of a subscriber could not be set", error),
    );
    this.#store = new DeliveryStore(ctx.storage);
    this.#history = new DeliveryHistory(this.#store);
    this.#retention = new DeliveryRetention(this.#store);
    this.#backlog = new BacklogGuard(this.#store, limits);
    this.#scheduler = new Scheduler(this.#store);
    this.#firstAttempts = new FirstAttempts(this.#store);
    this.manual = new ManualDeliveries(this.#store, this.#firstAttempts, {
      now,
      insert: (event, at) => this.#insert(event, null, at),
      start: (key, deliveryId) => {
        // A person who tests by hand has often just changed something.
        this.#handlerFor(key).requireVersion(Number.POSITIVE_INFINITY);
        this.#scheduler.prefer(deliveryId);
        this.#run();
      },
    });
    this.#outcomes = new OutcomeRecorder(this.#store, this.#scheduler, now, (error) => {
      this.#logError("The outcomes of a subscriber's deliveries could not be recorded", error);
      this.#scheduler.pause(this.#now() + WATCHDOG_MS);
    });
    this.#replay = new Replay(this.#store, {
      now,
      newId: () => crypto.randomUUID(),
      insert: (event, lane) => void this.#insert(event, lane, now()),
      readLog: async (shard, query) => readLog(this.#store.readKey()?.accountId ?? "", shard, query),
    });
    this.#lastSeq = this.#store.lastSeq();
    const interruption = this.#currentHandler()?.interruption ?? null;
    if (interruption !== null) this.#store.failStarted(interruption);
  }

  /** The deliveries as they are now. */
  get history(): DeliveryHistory {
    this.#outcomes.flush();
    return this.#history;
  }

  /** Enqueues each event once, by its id. They are stored when this returns. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    const now = this.#now();
    this.#store.transaction(() => {
      this.#store.open(key);
      for (const event of events) {
        if (this.#store.recordEventId(event.eventId, now)) this.#insert(event, event.roomId, now);
      }
      this.#retention.prune(now);
    });
    const handler = this.#handlerFor(key);
    handler.requireVersion(version);
    this.#run();
    this.#checkBacklog(handler);
  }

  /** Starts to send a span of events again; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    const replay = this.#store.transaction(() => {
      this.#store.open(key);
      return this.#replay.start(request);
    });
    this.#continueReplay();
    this.#scheduleAlarm();
    return replay;
  }

  stats(range: StatsRange): SubscriberStats {
    this.#outcomes.flush();
    return new StatsStore(this.#store).read(range, this.#now());
  }

  findReplay(): ReplayRecord | null {
    return this.#replay.find();
  }

  #continueReplay(): void {
    if (this.#retention.isEnding) return;
    const step = async (): Promise<void> => {
      if (await this.#replay.step()) this.#run();
    };
    const continued = step().catch((error: unknown) => {
      this.#logError("Events could not be read from the log to send them again yet", error);
    });
    this.#ctx.waitUntil(continued.then(() => this.#scheduleAlarm()));
  }

  #insert(event: OutgoingEvent, lane: string | null, now: number): number {
    const id = crypto.randomUUID();
    this.#lastSeq = this.#store.insert({ id, event, lane: lane ?? id, now });
    return this.#lastSeq;
  }

  /** The subscriber was changed: from now on the handler uses no cached row of a lower version. */
  notifyOfChange(version: number): void {
    const handler = this.#currentHandler();
    if (handler === null) return;
    handler.requireVersion(version);
    this.#backlog.forgive(this.#now());
    this.#scheduler.resume();
    this.#run();
  }

  /** Removes everything, because the subscriber was deleted. No pending delivery starts any more. */
  async clear(): Promise<void> {
    this.#scheduler.clear();
    this.#handler?.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler = null;
    this.#outcomes.clear();
    this.#lastSeq = 0;
    this.#alarm.markFired();
    await this.#store.clear();
    this.#firstAttempts.answerAll();
  }

  /** Does what is due when the alarm fires. Never throws: the platform gives up alarms that fail repeatedly. */
  wake(): void {
    this.#alarm.markFired();
    try {
      this.#outcomes.flush();
      this.#store.transaction(() => {
        this.#retention.endSome();
        this.#retention.prune(this.#now());
      });
      this.#run();
      this.#continueReplay();
      const handler = this.#currentHandler();
      if (handler !== null) this.#checkBacklog(handler);
    } catch (error) {
      this.#logError("The alarm of a subscriber failed", error);
      this.#alarm.scheduleBy([this.#now() + WATCHDOG_MS]);
    }
  }

  /** Starts every attempt that may start now, and sets the alarm for the rest. */
  #run(): void {
    const handler = this.#currentHandler();
    if (handler !== null && !this.#retention.isEnding) {
      for (const job of this.#scheduler.start(this.#now(), handler.pace)) {
        this.#ctx.waitUntil(this.#attempt(handler, job));
      }
    }
    if (this.#scheduler.inFlight === 0) this.#outcomes.flush();
    this.#scheduleAlarm();
  }

  #checkBacklog(handler: DeliveryHandler): void {
    const checked = this.#backlog.check(handler, this.#now()).catch((error: unknown) => {
      this.#logError("That much waits for a subscriber could not be acted on yet", error);
    });
    this.#ctx.waitUntil(checked.then(() => this.#scheduleAlarm()));
  }

  async #attempt(handler: DeliveryHandler, job: Job): Promise<void> {
    const isOnce = handler.interruption !== null;
    let hasStarted = false;
    const lastSeq = this.#lastSeq;
    try {
      const delivery = this.#store.find(job.seq);
      if (isOnce) await this.#store.markStarted(job.seq, this.#now());
      hasStarted = isOnce;
      const replayId = replayOfLane(job.lane);
      const outcome = delivery && (await handler.deliver({ ...delivery, replayId }, job.attempts));
      if (handler !== this.#handler) return; // cleared meanwhile: other rows may have these numbers now
      if (outcome === null) this.#scheduler.settle(job);
      else await this.#settle(job, outcome, isOnce, lastSeq);
    } catch (error) {
      this.#logError("An attempt to deliver an event failed on the service's side", error);
      if (handler !== this.#handler) return;
      // No outcome is recorded: the attempt is repeated, unless that is forbidden.
      if (hasStarted) this.#outcomes.recordNow(job, failure("The outcome could not be recorded"));
      else this.#scheduler.postpone(job, this.#now() + WATCHDOG_MS);
    }
    this.#run();
    if (!this.#firstAttempts.isAwaited(job.seq)) return;
    this.#outcomes.flush();
    this.#firstAttempts.answer(job.seq);
  }

  /** `lastSeq` is the newest delivery that was there when the attempt began. */
  async #settle(job: Job, outcome: DeliveryOutcome, isOnce: boolean, lastSeq: number): Promise<void> {
    switch (outcome.type) {
      case "orphaned":
        await this.clear();
        return;
      case "disabled":
        this.#end(job, outcome.error);
        this.#retention.endWaiting(lastSeq, outcome.error);
        this.#replay.end(outcome.error ?? "It was disabled");
        if (this.#retention.isEnding) this.#alarm.scheduleBy([this.#now()]);
        return;
      case "suspended":
        if (this.#firstAttempts.isAwaited(job.seq)) this.#outcomes.recordNow(job, failure(outcome.why));
        else this.#postpone(job, this.#now() + SUSPENSION_CHECK_MS);
        return;
      case "postponed":
        if (isOnce && this.#firstAttempts.isAwaited(job.seq))
          this.#outcomes.recordNow(job, failure(outcome.why));
        else this.#postpone(job, outcome.until);
        return;
      default:
        if (isOnce) this.#outcomes.recordNow(job, outcome);
        else this.#outcomes.recordSoon(job, outcome);
        this.#scheduler.rest(outcome.restMs ?? 0, this.#now(), MAX_REST_MS);
    }
  }

  #postpone(job: Job, until: number): void {
    this.#store.clearStarted(job.seq);
    this.#scheduler.postpone(job, until);
  }

  /** Ends a delivery without an attempt; without an error it leaves no record. */
  #end(job: Job, error: string | null): void {
    if (error !== null) this.#outcomes.recordNow(job, failure(error));
    else {
      this.#store.remove(job.seq);
      this.#scheduler.settle(job);
    }
  }

  #currentHandler(): DeliveryHandler | null {
    const key = this.#store.readKey();
    return key && this.#handlerFor(key);
  }

  #handlerFor(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#createHandler(key, this.#store.handlerState);
    return this.#handler;
  }

  /** While attempts are in flight, each of their ends comes here again: the rest can wait until none is. */
  #scheduleAlarm(): void {
    const now = this.#now();
    const isBusy = this.#scheduler.inFlight > 0 || this.#outcomes.isWaiting;
    this.#alarm.scheduleBy([
      this.#scheduler.dueAt(now),
      this.#replay.dueAt(),
      ...(isBusy ? [now + WATCHDOG_MS] : [this.#retention.dueAt(now), this.#backlog.dueAt(now)]),
    ]);
  }

  #logError(message: string, error: unknown): void {
    const key = this.#store.readKey();
    const subscriber =
      key === null ? { object: String(this.#ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    logError(message, subscriber, error);
  }
}
