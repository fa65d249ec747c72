/** Maintenance of a subscriber: retention, backlog, schedule and replays. */

import { DAY_MS, MINUTE_MS } from "../../platform/time.ts";
import type { SubscriberKey } from "../outbox/subscription.ts";
import { BacklogGuard } from "./backlog.ts";
import type { ReplayRecord, ReplayRequest } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { DeliveryHandler, SubscriberPorts, Timetable } from "./handler.ts";
import { Replay } from "./replay.ts";

interface MaintenancePorts extends Pick<SubscriberPorts, "limits" | "readLog" | "reportWaiting"> {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `work` beside the requests, then plans the alarm; reports `failure` when it rejects. */
  inBackground(work: Promise<void>, failure: string): void;
  /** Something new waits for its attempt. */
  onEnqueued(): void;
  /** The subscriber's row is gone. */
  onOrphaned(): Promise<void>;
}

export class SubscriberMaintenance {
  readonly #ports: MaintenancePorts;
  readonly #store: DeliveryStore;
  readonly #retention: DeliveryRetention;
  readonly #backlog: BacklogGuard;
  readonly #replay: Replay;
  readonly #timed: TimedDeliveries;

  constructor(store: DeliveryStore, ports: MaintenancePorts) {
    this.#ports = ports;
    this.#store = store;
    this.#retention = new DeliveryRetention(store);
    this.#backlog = new BacklogGuard(store, ports.limits, ports);
    this.#timed = new TimedDeliveries(store);
    this.#replay = new Replay(store, {
      now: () => ports.now(),
      newId: () => crypto.randomUUID(),
      readLog: async (shard, query) => ports.readLog(store.readKey()?.accountId ?? "", shard, query),
    });
  }

  /** True while something waits only to be ended: no attempt is to start meanwhile. */
  get isEnding(): boolean {
    return this.#retention.isEnding;
  }

  /** When the alarm is to continue a replay, or to enqueue by the clock (epoch ms); null for never. */
  enqueuingDueAt(): (number | null)[] {
    return [this.#replay.dueAt(), this.#timed.dueAt()];
  }

  /** When the alarm is to do the rest, which can wait until no attempt is in flight. */
  dueAt(now: number): (number | null)[] {
    return [this.#retention.dueAt(now), ...this.#backlog.dueAt(now)];
  }

  /** Deletes some of what is no longer kept. */
  prune(): void {
    this.#retention.prune(this.#ports.now());
  }

  /** Does a slice of what is to be ended or deleted. */
  clean(): void {
    this.#store.transaction(() => {
      this.#retention.endSome();
      this.prune();
    });
  }

  /** Reports what waits for the subscriber, and warns or suspends it when that is too much. */
  checkBacklog(handler: DeliveryHandler): void {
    const check = this.#backlog.check(handler, this.#ports.now());
    this.#ports.inBackground(check, "That much waits for a subscriber could not be acted on yet");
  }

  /** The subscriber may have been enabled again: it gets time to work off what waits. */
  forgiveBacklog(): void {
    this.#backlog.forgive(this.#ports.now());
  }

  /** A request has disabled the subscriber: what was enqueued up to this number ends, with the error if there is one. */
  endWaiting(lastSeq: number, error: string | null): void {
    this.#retention.endWaiting(lastSeq, error);
    this.#replay.end(error ?? "It was disabled");
  }

  /** A change of what is delivered by the clock is about to be committed. */
  expectChange(key: SubscriberKey): void {
    this.#store.transaction(() => {
      this.#store.open(key);
      this.#timed.expectChange(this.#ports.now());
    });
  }

  /** The subscriber's row was changed. */
  changed(handler: DeliveryHandler): void {
    this.#timed.changed(this.#ports.now());
    this.continueTimed(handler);
  }

  /** Enqueues what is due by the clock. */
  continueTimed({ timetable }: DeliveryHandler): void {
    if (timetable === undefined || this.#timed.dueAt() === null) return;
    const step = async (): Promise<void> => {
      const result = await this.#timed.step(timetable, this.#ports.now());
      if (result === "orphaned") await this.#ports.onOrphaned();
      if (result === "enqueued") this.#ports.onEnqueued();
    };
    this.#ports.inBackground(step(), "The schedule of a subscriber could not be read yet");
  }

  /** Starts to send a span of events again; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    const replay = this.#store.transaction(() => {
      this.#store.open(key);
      return this.#replay.start(request);
    });
    this.continueReplay();
    return replay;
  }

  /** The latest replay; null when there was none. */
  findReplay(): ReplayRecord | null {
    return this.#replay.find();
  }

  continueReplay(): void {
    if (this.isEnding) return;
    const step = async (): Promise<void> => {
      if (await this.#replay.step()) this.#ports.onEnqueued();
    };
    this.#ports.inBackground(step(), "Events could not be read from the log to send them again yet");
  }
}

/** Deliveries that are over are kept for this long… */
export const KEPT_MS = 7 * DAY_MS;
/** …and, the oldest first, deleted before that when together they take more than this. */
const KEPT_BYTES = 1024 ** 3;
/** Event IDs are recognized until this time after their last repetition; the outbox relay repeats within a minute… */
const EVENT_ID_KEPT_MS = DAY_MS;
/** …unless the service stood still: what it then had not forgotten in the outbox is among these, the latest. */
const EVENT_IDS_KEPT = 1_000;
/** Rows per step: a step takes some milliseconds. */
const SLICE = 500;

/** The end of the backlog without an attempt, because the subscriber was disabled. */
interface Ending {
  /** Later deliveries go on. */
  readonly untilSeq: number;
  /** For the customer; null when no record is kept. */
  readonly error: string | null;
}

/** The oldest deliveries that are over, in the order in which they were enqueued. */
const OLDEST_OVER = `SELECT seq, created_at FROM (
    SELECT seq, created_at FROM deliveries WHERE status = 'success'
    UNION ALL SELECT seq, created_at FROM deliveries WHERE status = 'failed'
  ) ORDER BY seq LIMIT ${SLICE}`;

export class DeliveryRetention {
  readonly #store: DeliveryStore;
  readonly #keptBytes: number;
  /** No event ID is looked for that can be forgotten before (epoch ms). */
  #forgetsAt = Number.NEGATIVE_INFINITY;

  constructor(store: DeliveryStore, keptBytes: number = KEPT_BYTES) {
    this.#store = store;
    this.#keptBytes = keptBytes;
  }

  /** Deletes some of what is no longer kept. */
  prune(now: number): void {
    const store = this.#store;
    if (now >= this.#forgetsAt) {
      const some = `SELECT event_id FROM known WHERE at < ? ORDER BY at DESC LIMIT ${SLICE} OFFSET ${EVENT_IDS_KEPT}`;
      const forgotten = `DELETE FROM known WHERE event_id IN (${some}) RETURNING 1`;
      const { length } = store.read(forgotten, now - EVENT_ID_KEPT_MS);
      if (length < SLICE) this.#forgetsAt = now + MINUTE_MS;
    }
    const isFull = this.#bytesOver() > this.#keptBytes;
    if (!isFull && (this.#oldestOverAt() ?? now) > now - KEPT_MS) return;
    store.write(
      `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM (${OLDEST_OVER}) WHERE created_at < ? OR ?)`,
      now - KEPT_MS,
      Number(isFull),
    );
  }

  #bytesOver(): number {
    return this.#store.total("success").bytes + this.#store.total("failed").bytes;
  }

  #oldestOverAt(): number | null {
    const times = [this.#store.oldestAt("success"), this.#store.oldestAt("failed")];
    return times.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)));
  }

  /** Ends everything that waits, up to this number, without an attempt: some of it now, the rest by {@link endSome}. */
  endWaiting(untilSeq: number, error: string | null): void {
    if ((this.#ending?.untilSeq ?? 0) >= untilSeq) return;
    this.#store.transaction(() => {
      this.#store.writeFact("ending", JSON.stringify({ untilSeq, error } satisfies Ending));
      this.endSome();
    });
  }

  get #ending(): Ending | null {
    return parseEnding(this.#store.readFact("ending"));
  }

  /** True while something waits only to be ended: no attempt is to start meanwhile. */
  get isEnding(): boolean {
    return this.#ending !== null;
  }

  /** Ends some of what {@link endWaiting} ends. */
  endSome(): void {
    const ending = this.#ending;
    if (ending === null) return;
    const { untilSeq, error } = ending;
    const some = `SELECT seq FROM deliveries WHERE status = 'pending' AND seq <= ? ORDER BY seq LIMIT ${SLICE}`;
    const rows =
      error === null
        ? this.#store.read(`DELETE FROM deliveries WHERE seq IN (${some}) RETURNING seq`, untilSeq)
        : this.#store.read(
            `UPDATE deliveries SET status = 'failed', due_at = NULL, error = ? WHERE seq IN (${some}) RETURNING seq`,
            error,
            untilSeq,
          );
    if (rows.length < SLICE) this.#store.writeFact("ending", null);
  }

  /** When this has work to do again (epoch ms); null when nothing is left. */
  dueAt(now: number): number | null {
    if (this.isEnding || this.#bytesOver() > this.#keptBytes) return now;
    const oldest = this.#oldestOverAt();
    return oldest === null ? null : oldest + KEPT_MS;
  }
}

/** As {@link DeliveryRetention.endWaiting} wrote it. */
const parseEnding = (json: string | null): Ending | null =>
  json === null ? null : (JSON.parse(json) as Ending);

/** A change that was announced is committed by then, or never. */
const COMMITTED_AFTER_MS = 30_000;
/** A reading that fails, or that a crash cuts off, is made again after this time. */
const RETRY_MS = 5_000;
/** Their lane: first attempts run one at a time, in order, beside those of rooms. */
const LANE = "schedule";
const FACT = "timetable";

/** Times in epoch milliseconds; null for never. */
interface Plan {
  /** When the next delivery is due. */
  readonly nextAt: number | null;
  /** When to read the timetable again, whatever is due: the subscriber's row was changed, or is about to be. */
  readonly checkAt: number | null;
}

const NOTHING: Plan = { nextAt: null, checkAt: null };
const earliest = ({ nextAt, checkAt }: Plan): number =>
  Math.min(nextAt ?? Number.POSITIVE_INFINITY, checkAt ?? Number.POSITIVE_INFINITY);

class TimedDeliveries {
  readonly #store: DeliveryStore;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Counts the changes: what was read before one is out of date. */
  #changes = 0;

  constructor(store: DeliveryStore) {
    this.#store = store;
  }

  /** A change of the timetable is about to be committed: it is found even if {@link changed} is never called. */
  expectChange(now: number): void {
    this.#write({ ...this.#plan, checkAt: now + COMMITTED_AFTER_MS });
  }

  /** The subscriber's row was changed. Nothing is read for one that never had a timetable. */
  changed(now: number): void {
    this.#changes += 1;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    if (earliest(this.#plan) < Number.POSITIVE_INFINITY) this.#write({ ...this.#plan, checkAt: now });
  }

  /** When {@link step} has something to do (epoch ms); null for never. */
  dueAt(): number | null {
    const at = earliest(this.#plan);
    return Number.isFinite(at) ? Math.max(at, this.#retryAt) : null;
  }

  /** Does what is due. Rejects when the timetable cannot be read: {@link dueAt} then says when to try again. */
  async step(timetable: Timetable, now: number): Promise<"idle" | "enqueued" | "orphaned"> {
    const dueAt = this.dueAt();
    if (dueAt === null || now < dueAt) return "idle";
    const { nextAt } = this.#plan;
    const changes = this.#changes;
    this.#retryAt = now + RETRY_MS;
    const reading = await timetable.read(nextAt !== null && nextAt <= now ? nextAt : null, now);
    if (changes !== this.#changes) return "idle"; // it is due again
    this.#retryAt = Number.NEGATIVE_INFINITY;
    if (reading === null) return "orphaned";
    return this.#store.transaction(() => {
      const { event } = reading;
      const { checkAt } = this.#plan;
      this.#write({ nextAt: reading.nextAt, checkAt: checkAt !== null && checkAt > now ? checkAt : null });
      if (event === null || !this.#store.recordEventId(event.eventId, now)) return "idle";
      this.#store.insert(event, LANE, now);
      return "enqueued";
    });
  }

  get #plan(): Plan {
    const json = this.#store.readFact(FACT);
    return json === null ? NOTHING : (JSON.parse(json) as Plan);
  }

  #write(plan: Plan): void {
    this.#store.writeFact(FACT, Number.isFinite(earliest(plan)) ? JSON.stringify(plan) : null);
  }
}
