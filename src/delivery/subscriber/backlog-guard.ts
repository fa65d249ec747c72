/** Bounds what waits for a subscriber, by bytes and by age: at the bound it is suspended, and nothing is dropped. */
import type { DeliveryHandler } from "../handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";

/** The limits of what waits for one subscriber. */
export interface BacklogLimits {
  readonly maxBytes: number;
  /** Of the oldest event that waits, in milliseconds. */
  readonly maxAgeMs: number;
}

/** What waits for a subscriber. */
interface Backlog {
  readonly bytes: number;
  /** When the oldest was enqueued (epoch ms); null when nothing waits. */
  readonly oldestAt: number | null;
}

/** A subscriber that is enabled again has so long to work off what waits. */
const GRACE_MS = 24 * 60 * 60 * 1000;
/** After a failure to suspend the subscriber, it is tried again. */
const RETRY_MS = 5_000;

/** The share of the limit that is reached: 1 or more when too much waits. */
function backlogShare({ bytes, oldestAt }: Backlog, limits: BacklogLimits, now: number): number {
  const ageMs = oldestAt === null ? 0 : now - oldestAt;
  return Math.max(bytes / limits.maxBytes, ageMs / limits.maxAgeMs);
}

export class BacklogGuard {
  readonly #store: DeliveryStore;
  readonly #limits: BacklogLimits;
  /** Epoch milliseconds; null when no attempt to suspend the subscriber runs or has failed. */
  #retryAt: number | null = null;

  constructor(store: DeliveryStore, limits: BacklogLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  #backlog(): Backlog {
    return { bytes: this.#store.total("pending").bytes, oldestAt: this.#store.oldestAt("pending") };
  }

  /** Suspends the subscriber when too much waits for it. Rejects when that fails: {@link dueAt} then says when to try again. */
  async check(handler: DeliveryHandler, now: number): Promise<void> {
    const isTrying = this.#retryAt !== null && now < this.#retryAt;
    if (isTrying || now < this.#graceUntil || backlogShare(this.#backlog(), this.#limits, now) < 1) return;
    this.#retryAt = now + RETRY_MS;
    await handler.suspend();
    this.#retryAt = null;
    this.forgive(now);
  }

  /** From `now` (epoch ms), the subscriber has {@link GRACE_MS} to work off what waits. */
  forgive(now: number): void {
    this.#store.writeFact("grace", String(now + GRACE_MS));
  }

  get #graceUntil(): number {
    return Number(this.#store.readFact("grace") ?? 0);
  }

  /** When to check again, if nothing else happens (epoch ms); null when nothing waits. */
  dueAt(): number | null {
    const { oldestAt } = this.#backlog();
    if (oldestAt === null) return null;
    return Math.max(oldestAt + this.#limits.maxAgeMs, this.#graceUntil, this.#retryAt ?? 0);
  }
}
