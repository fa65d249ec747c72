/** Deliveries by the clock: keeps when the next one is due, and enqueues it in the transaction that plans the one after it. */
import type { Timetable } from "../port/handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";

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

export class TimedDeliveries {
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
