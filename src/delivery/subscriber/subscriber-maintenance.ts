/** Maintenance of a subscriber: retention of its deliveries, and events of its schedule. */
import { parseStored } from "@atrium/contract/stored.ts";
import { DAY_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { Timetable } from "./handler.ts";
import { countDeliveries, forgetError } from "./stats-store.ts";

/** Deliveries that are over are kept for this long… */
const KEPT_MS = 7 * DAY_MS;
/** …and, the oldest first, deleted before that when together they take more than this. */
const KEPT_BYTES = 1024 ** 3;
/** An event is recognized while its delivery is kept, and for this time after it was enqueued or repeated. */
const EVENT_ID_KEPT_MS = DAY_MS;
const SLICE = 500;

interface Ending {
  readonly untilSeq: number;
  readonly error: string | null;
}

const OLDEST_OVER = `SELECT seq, created_at FROM (
    SELECT seq, created_at FROM deliveries WHERE status = 'success'
    UNION ALL SELECT seq, created_at FROM deliveries WHERE status = 'failed'
  ) ORDER BY seq LIMIT ${SLICE}`;

/** Deletes finished deliveries above the bounds of age and bytes, and event IDs that cannot arrive again. */
export class DeliveryRetention {
  readonly #store: DeliveryStore;
  readonly #keptBytes: number;
  /** No event ID is looked for that can be forgotten before (epoch ms). */
  #forgetsAt = Number.NEGATIVE_INFINITY;

  constructor(store: DeliveryStore, keptBytes: number = KEPT_BYTES) {
    this.#store = store;
    this.#keptBytes = keptBytes;
  }

  prune(now: number): void {
    const store = this.#store;
    if (now >= this.#forgetsAt) {
      const some = `SELECT event_id FROM known WHERE at < ? ORDER BY at LIMIT ${SLICE}`;
      const forgotten = `DELETE FROM known WHERE event_id IN (${some}) RETURNING 1`;
      const { length } = store.read(forgotten, now - EVENT_ID_KEPT_MS);
      if (length < SLICE) this.#forgetsAt = now + MINUTE_MS;
    }
    const isFull = this.#bytesOver() > this.#keptBytes;
    if (!isFull && (this.#oldestOverAt() ?? now) > now - KEPT_MS) return;
    countDeliveries(store, now, 1); // their attempts are in their own rows alone until then
    const some = `SELECT seq FROM (${OLDEST_OVER}) WHERE created_at < ? OR ?`;
    const params = [now - KEPT_MS, Number(isFull)];
    const those = `SELECT seq FROM deliveries WHERE seq IN (${some}) AND created_at`;
    store.rememberEvents(`${those} > ?`, 0, ...params, now - EVENT_ID_KEPT_MS);
    // The service stood still where deliveries are overdue: outboxes may have their events.
    store.rememberEvents(`${those} < ?`, now, ...params, now - KEPT_MS - EVENT_ID_KEPT_MS);
    store.write(`DELETE FROM deliveries WHERE seq IN (${some})`, ...params);
    forgetError(store);
  }

  #bytesOver(): number {
    return this.#store.total("success").bytes + this.#store.total("failed").bytes;
  }

  #oldestOverAt(): number | null {
    const times = [this.#store.oldestAt("success"), this.#store.oldestAt("failed")];
    return times.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)));
  }

  /** Ends pending deliveries up to this number without an attempt: some of them now, the rest by {@link endSome}. */
  endWaiting(untilSeq: number, error: string | null, now: number): void {
    if ((this.#ending?.untilSeq ?? 0) >= untilSeq) return;
    this.#store.transaction(() => {
      this.#store.writeFact("ending", JSON.stringify({ untilSeq, error } satisfies Ending));
      this.endSome(now);
    });
  }

  get #ending(): Ending | null {
    return parseEnding(this.#store.readFact("ending"));
  }

  get isEnding(): boolean {
    return this.#ending !== null;
  }

  endSome(now: number): void {
    const ending = this.#ending;
    if (ending === null) return;
    const { untilSeq, error } = ending;
    const some = `SELECT seq FROM deliveries WHERE status = 'pending' AND seq <= ? ORDER BY seq LIMIT ${SLICE}`;
    if (error === null) {
      countDeliveries(this.#store, now, 1);
      this.#store.rememberEvents(some, 0, untilSeq);
    }
    const rows =
      error === null
        ? this.#store.read(`DELETE FROM deliveries WHERE seq IN (${some}) RETURNING seq`, untilSeq)
        : this.#store.read(
            `UPDATE deliveries SET status = 'failed', due_at = NULL, error = ? WHERE seq IN (${some}) RETURNING seq`,
            error,
            untilSeq,
          );
    forgetError(this.#store);
    if (rows.length < SLICE) this.#store.writeFact("ending", null);
  }

  /** When this has work to do again (epoch ms); null when nothing is left. */
  dueAt(now: number): number | null {
    if (this.isEnding || this.#bytesOver() > this.#keptBytes) return now;
    const oldest = this.#oldestOverAt();
    return oldest === null ? null : oldest + KEPT_MS;
  }
}

const parseEnding = (json: string | null): Ending | null =>
  json === null ? null : parseStored<Ending>(json, { error: null });

/** Time within which an announced change is committed, if ever. */
const COMMITTED_AFTER_MS = 30_000;
/** A reading that fails, or that a crash cuts off, is made again after this time. */
const RETRY_MS = 5_000;
/** Lane of timed deliveries: first attempts run one at a time, in order, beside the lanes of rooms. */
const LANE = "schedule";
const FACT = "timetable";

interface Plan {
  readonly nextAt: number | null;
  /** When to read the timetable again, whatever is due: the subscriber's row was changed, or is about to be. */
  readonly checkAt: number | null;
}

const NOTHING: Plan = { nextAt: null, checkAt: null };
const earliest = ({ nextAt, checkAt }: Plan): number =>
  Math.min(nextAt ?? Number.POSITIVE_INFINITY, checkAt ?? Number.POSITIVE_INFINITY);

/** Creates the deliveries of a timetable when they are due, and reads it again after it was changed. */
export class TimedDeliveries {
  readonly #store: DeliveryStore;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Number of changes; a reading that a change has overtaken is out of date. */
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

  dueAt(): number | null {
    const at = earliest(this.#plan);
    return Number.isFinite(at) ? Math.max(at, this.#retryAt) : null;
  }

  /** Runs the timetable if it is due. Rejects when it cannot be read; {@link dueAt} has the time of the retry. */
  async step(timetable: Timetable, now: number): Promise<"idle" | "enqueued" | "orphaned"> {
    const dueAt = this.dueAt();
    if (dueAt === null || now < dueAt) return "idle";
    const { nextAt } = this.#plan;
    const changes = this.#changes;
    this.#retryAt = now + RETRY_MS;
    const reading = await timetable(nextAt !== null && nextAt <= now ? nextAt : null, now);
    if (changes !== this.#changes) return "idle"; // the plan is due again
    this.#retryAt = Number.NEGATIVE_INFINITY;
    if (reading === null) return "orphaned";
    return this.#store.transaction(() => {
      const { event } = reading;
      const { checkAt } = this.#plan;
      this.#write({ nextAt: reading.nextAt, checkAt: checkAt !== null && checkAt > now ? checkAt : null });
      if (event === null || this.#store.isKnown(event.eventId, now)) return "idle";
      this.#store.insert(event, LANE, now, { isFirst: true });
      return "enqueued";
    });
  }

  get #plan(): Plan {
    const json = this.#store.readFact(FACT);
    return json === null ? NOTHING : parseStored<Plan>(json, NOTHING);
  }

  #write(plan: Plan): void {
    this.#store.writeFact(FACT, Number.isFinite(earliest(plan)) ? JSON.stringify(plan) : null);
  }
}
