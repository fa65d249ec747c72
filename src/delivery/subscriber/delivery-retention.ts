/** Retention: deletes or ends deliveries, a bounded number of rows at a time. */
import { DAY_MS, MINUTE_MS } from "../../platform/durations.ts";
import type { DeliveryStore } from "./delivery-store.ts";

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
