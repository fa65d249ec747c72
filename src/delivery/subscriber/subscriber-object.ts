/** The Durable Object of one subscriber: a durable queue of events, and the record of their deliveries. Or one of its senders. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import { DurableAlarm } from "../../platform/durable-alarm.ts";
import { logError } from "../../platform/log.ts";
import { countFailure } from "../../telemetry/telemetry.ts";
import type { DeliveryHandler } from "../handler.ts";
import type { StatsRange, SubscriberStats } from "../port/delivery-stats.ts";
import type { ReplayRecord, ReplayRequest } from "../port/replay.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  FoundDelivery,
  OutgoingEvent,
  StatusFilter,
  SubscriberKey,
} from "../port/subscriber-port.ts";
import type { SubscriberRpc } from "../port/subscriber-rpc.ts";
import type { AttemptResult, Destination, WebhookMessage } from "../port/webhook-request.ts";
import { Attempts } from "./attempts.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { FirstAttempts } from "./first-attempts.ts";
import { ManualDeliveries } from "./manual-deliveries.ts";
import { StatsStore } from "./stats-store.ts";
import { type SubscriberPorts, subscriberPorts } from "./subscriber-ports.ts";
import { Upkeep } from "./upkeep.ts";

/** While attempts are in flight, an alarm is set this far ahead: it outlives a crash and takes them up again. */
const WATCHDOG_MS = 5_000;

/** Its methods are what {@link SubscriberGateway} describes. Reading creates nothing in storage. */
export class SubscriberObject extends DurableObject<Env> implements SubscriberRpc {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly #ports: SubscriberPorts;
  readonly #alarm: DurableAlarm;
  readonly #store: DeliveryStore;
  readonly #history: DeliveryHistory;
  readonly #manual: ManualDeliveries;
  readonly #firstAttempts: FirstAttempts;
  readonly #attempts: Attempts;
  readonly #upkeep: Upkeep;
  #handler: DeliveryHandler | null = null;

  /** Resumes what is pending in storage. Tests replace the ports. Attempts that were cut off and must not be repeated fail. */
  constructor(ctx: DurableObjectState, env: Env, ports: SubscriberPorts = subscriberPorts(env)) {
    super(ctx, env);
    const now = () => this.clock();
    const store = new DeliveryStore(ctx.storage);
    this.#ports = ports;
    this.#store = store;
    this.#alarm = new DurableAlarm(ctx, (error) =>
      this.#report("The alarm of a subscriber could not be set", error),
    );
    this.#history = new DeliveryHistory(store);
    this.#firstAttempts = new FirstAttempts(store);
    this.#manual = new ManualDeliveries(store, this.#firstAttempts, {
      now,
      start: (key, deliveryId) => {
        // A person who tests by hand has often just changed something.
        this.#handlerFor(key).requireVersion(Number.POSITIVE_INFINITY);
        this.#attempts.runFirst(deliveryId);
      },
    });
    this.#upkeep = new Upkeep(store, {
      now,
      limits: ports.limits,
      readLog: ports.readLog,
      inBackground: (work, failure) => this.#inBackground(work, failure),
      onEnqueued: () => this.#attempts.run(),
      onOrphaned: () => this.remove(),
    });
    this.#attempts = new Attempts(store, this.#firstAttempts, {
      now,
      keepAlive: (work) => ctx.waitUntil(work),
      startingHandler: () => (this.#upkeep.isEnding ? null : this.#currentHandler()),
      isCurrent: (handler) => handler === this.#handler,
      onOrphaned: () => this.remove(),
      onDisabled: (lastSeq, error) => {
        this.#upkeep.endWaiting(lastSeq, error);
        if (this.#upkeep.isEnding) this.#alarm.scheduleBy([now()]);
      },
      planAlarm: () => this.#planAlarm(),
      report: (what, error) => this.#report(what, error),
    });
    const interruption = this.#currentHandler()?.interruption ?? null;
    if (interruption !== null) store.failStarted(interruption);
  }

  /** Does what is due when the alarm fires. Never throws: the platform gives up alarms that fail repeatedly. */
  override alarm(): void {
    this.#alarm.markFired();
    try {
      this.#attempts.flush();
      this.#upkeep.clean();
      const handler = this.#currentHandler();
      if (handler !== null) this.#upkeep.continueTimed(handler);
      this.#attempts.run();
      this.#upkeep.continueReplay();
      if (handler !== null) this.#upkeep.checkBacklog(handler);
    } catch (error) {
      this.#report("The alarm of a subscriber failed", error);
      this.#alarm.scheduleBy([this.clock() + WATCHDOG_MS]);
    }
  }

  /** Enqueues each event once, by its ID. They are stored when this returns. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    this.#enqueue(key, events, version, (event, now) => this.#store.insert(event, event.roomId, now));
  }

  /** Enqueues an event in a lane of its own, once by its ID, which becomes that of its delivery. */
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): void {
    this.#enqueue(key, [event], version, (_, now) => this.#store.insert(event, null, now, event.eventId));
  }

  #enqueue(
    key: SubscriberKey,
    events: readonly OutgoingEvent[],
    version: number,
    insert: (event: OutgoingEvent, now: number) => void,
  ): void {
    const now = this.clock();
    this.#store.transaction(() => {
      this.#store.open(key);
      for (const event of events) {
        if (this.#store.recordEventId(event.eventId, now)) insert(event, now);
      }
      this.#upkeep.prune();
    });
    const handler = this.#handlerFor(key);
    handler.requireVersion(version);
    this.#attempts.run();
    this.#upkeep.checkBacklog(handler);
  }

  /** A change of what is delivered by the clock is about to be committed: it is found even if nothing says that it was. */
  expectChange(key: SubscriberKey): void {
    this.#upkeep.expectChange(key);
    this.#planAlarm();
  }

  /** The subscriber was changed: from now on the handler uses no cached row of a lower version. */
  notifyOfChange(version: number): void {
    const handler = this.#currentHandler();
    if (handler === null) return;
    handler.requireVersion(version);
    this.#upkeep.forgiveBacklog();
    this.#upkeep.changed(handler);
    this.#attempts.resume();
  }

  /** Removes everything, because the subscriber was deleted. No pending delivery starts any more. */
  async remove(): Promise<void> {
    this.#attempts.clear();
    this.#handler?.requireVersion(Number.POSITIVE_INFINITY);
    this.#handler?.release();
    this.#handler = null;
    this.#alarm.markFired();
    await this.#store.clear();
    this.#firstAttempts.answerAll();
  }

  /** As a sender: makes a request for the webhook's own object, and stores nothing. */
  send(destination: Destination, message: WebhookMessage): Promise<AttemptResult> {
    return this.#ports.send(destination, message, () => this.clock());
  }

  list(filter: StatusFilter, query: DeliveryQuery): DeliveryPage {
    this.#attempts.flush();
    return this.#history.list(filter, query);
  }

  find(deliveryId: string): FoundDelivery | null {
    this.#attempts.flush();
    const delivery = this.#history.findById(deliveryId);
    return delivery && { delivery, isInFlight: this.#attempts.isInFlight(delivery.seq) };
  }

  stats(range: StatsRange): SubscriberStats {
    this.#attempts.flush();
    return new StatsStore(this.#store).read(range, this.clock());
  }

  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null {
    this.#attempts.flush();
    const earlier = this.#history.findById(deliveryId);
    return earlier && this.#manual.enqueue(key, earlier).delivery;
  }

  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): string[] {
    return deliveryIds.filter((id) => this.redeliver(key, id) === null);
  }

  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#manual.enqueue(key, event).attempted;
  }

  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#manual.enqueueOnce(key, event).attempted;
  }

  /** Starts to send a span of events again; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    return this.#upkeep.startReplay(key, request);
  }

  findReplay(): ReplayRecord | null {
    return this.#upkeep.findReplay();
  }

  #inBackground(work: Promise<void>, failure: string): void {
    const done = work.catch((error: unknown) => this.#report(failure, error));
    this.ctx.waitUntil(done.then(() => this.#planAlarm()));
  }

  /** While attempts are in flight, each of their ends comes here again: the rest can wait until none is. */
  #planAlarm(): void {
    const now = this.clock();
    this.#alarm.scheduleBy([
      this.#attempts.dueAt(now),
      ...this.#upkeep.enqueuingDueAt(),
      ...(this.#attempts.isBusy ? [now + WATCHDOG_MS] : this.#upkeep.dueAt(now)),
    ]);
  }

  #currentHandler(): DeliveryHandler | null {
    const key = this.#store.readKey();
    return key && this.#handlerFor(key);
  }

  #handlerFor(key: SubscriberKey): DeliveryHandler {
    this.#handler ??= this.#ports.createHandler(key, () => this.clock(), this.#store.handlerState);
    return this.#handler;
  }

  #report(what: string, error: unknown): void {
    const key = this.#store.readKey();
    const subscriber =
      key === null ? { object: String(this.ctx.id) } : { account: key.accountId, [key.kind]: key.id };
    countFailure("delivery");
    logError(what, subscriber, error);
  }
}
