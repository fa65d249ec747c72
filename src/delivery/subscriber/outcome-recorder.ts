/** Writes the outcomes of deliveries to storage: at once where an attempt must not be repeated, else together. */
import type { FinalOutcome } from "../handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { Job, Scheduler } from "./scheduler.ts";
import { StatsStore } from "./stats-store.ts";

/** Outcomes are written together, after this time or when there are so many: each write holds up the next requests. */
const RECORD_AFTER_MS = 50;
const MAX_UNRECORDED = 64;

interface Ended {
  readonly job: Job;
  readonly outcome: FinalOutcome;
}

export class OutcomeRecorder {
  readonly #store: DeliveryStore;
  readonly #scheduler: Scheduler;
  readonly #stats: StatsStore;
  readonly #now: () => number;
  readonly #onFailure: (error: unknown) => void;
  /** Not in storage yet. A crash repeats their attempts, where that is allowed. */
  #unrecorded: Ended[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `onFailure` receives why outcomes could not be written; their attempts are repeated. */
  constructor(
    store: DeliveryStore,
    scheduler: Scheduler,
    now: () => number,
    onFailure: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#stats = new StatsStore(store);
    this.#now = now;
    this.#scheduler = scheduler;
    this.#onFailure = onFailure;
  }

  /** True while there are outcomes that a crash would lose. */
  get isWaiting(): boolean {
    return this.#unrecorded.length > 0;
  }

  recordNow(job: Job, outcome: FinalOutcome): void {
    this.#record([{ job, outcome }]);
    this.#scheduler.settle(job);
  }

  recordSoon(job: Job, outcome: FinalOutcome): void {
    this.#unrecorded.push({ job, outcome });
    this.#scheduler.settle(job);
    if (this.#unrecorded.length >= MAX_UNRECORDED) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), RECORD_AFTER_MS);
  }

  /** Writes the outcomes that are not in storage yet, in one transaction. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const ended = this.#unrecorded;
    this.#unrecorded = [];
    try {
      if (ended.length > 0) this.#record(ended);
    } catch (error) {
      this.#onFailure(error);
    }
    this.#scheduler.forgetSettled();
  }

  #record(ended: readonly Ended[]): void {
    this.#store.transaction(() => {
      for (const { job, outcome } of ended) this.#store.recordOutcome(job.seq, outcome);
      this.#stats.record(
        ended.map(({ outcome }) => outcome),
        this.#now(),
      );
    });
  }

  /** Forgets them: the subscriber is deleted. */
  clear(): void {
    this.#unrecorded = [];
  }
}
