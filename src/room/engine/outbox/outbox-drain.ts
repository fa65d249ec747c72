/** Drains an outbox of the room: passes its entries on in order as soon as they are recorded, and retries. */
import { combined } from "@atrium/contract/errors.ts";
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { FailureStreak } from "../../../platform/flow/failure-streak.ts";
import type { WorkBudget } from "../../../platform/flow/work-budget.ts";
import type { RoomStorage } from "../../storage/storage.ts";

interface Entry {
  readonly seq: number;
  readonly id: string;
}

/** The rest that a fan-out leaves to the next one. */
export interface Unreached {
  /** The recipients that were not reached, as JSON by the ID of the entry. */
  readonly left: ReadonlyMap<string, string>;
  /** Causes; empty when only calls were missing. */
  readonly failures: readonly unknown[];
}

interface OutboxDrainPorts<Any extends Entry> {
  now(): number;
  readonly storage: Pick<RoomStorage, "transaction">;
  readonly outbox: {
    list(limit: number): Any[];
    delete(seq: number): void;
    /** `id` names one of several entries with the same number. */
    writePending(seq: number, pending: string, id: string): void;
  };
  /** The calls of one invocation. */
  newCalls(): WorkBudget;
  /**
   * Passes entries on with at most `calls` calls; `canWait` if no response waits for it. Rejects when the recipients
   * could not be read.
   */
  fanOut(entries: readonly Any[], calls: WorkBudget, canWait: boolean): Promise<Unreached>;
  keepAlive(work: Promise<unknown>): void;
  /** Reports a failed fan-out, which is retried: once until all is passed on, and each time for a defect. */
  failed(error: unknown): void;
}

const BATCH_SIZE = 200;
/** Delay of an alarm that is set while a drain is running: it survives a crash, the drain does not. */
const CRASH_RECOVERY_MS = 5_000;
/** The recipients of an entry that has reached all, beside others that have not. */
const NONE = "[]";
const RETRY = { firstMs: 1_000, maxMs: 30_000 };

export class OutboxDrain<Any extends Entry = Entry> {
  readonly #ports: OutboxDrainPorts<Any>;
  #running: Promise<void> | null = null;
  /** When the next retry is due (epoch ms); null when none is. */
  #retryAt: number | null = null;
  #failures = 0;
  /** The responses that wait for entries to be passed on. */
  #hurried = 0;
  readonly #streak: FailureStreak;

  constructor(ports: OutboxDrainPorts<Any>) {
    this.#ports = ports;
    this.#streak = new FailureStreak((error) => ports.failed(error));
  }

  /** Passes on all entries of the outbox, including those recorded in the meantime. */
  drain(): void {
    if (this.#running !== null) return;
    this.#running = this.#run();
    this.#ports.keepAlive(this.#running);
  }

  /** Passes on the entries of an earlier life of the object. */
  resume(): void {
    if (!this.#isEmpty()) this.drain();
  }

  /** Drains again after a failure, if the retry is due. */
  retryIfDue(): void {
    if (this.#retryAt !== null && this.#retryAt <= this.#ports.now()) this.drain();
  }

  /** When the object must wake for the outbox (epoch ms); null when the outbox is empty. */
  dueAt(): number | null {
    return this.#running === null ? this.#retryAt : this.#ports.now() + CRASH_RECOVERY_MS;
  }

  /** Resolves when no drain is running, whether the last one succeeded or not. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Runs `work`, and resolves when no drain is running, whether the last one succeeded or not. */
  async settledAfter(work: () => Promise<void>): Promise<void> {
    this.#hurried += 1;
    try {
      await work();
      await this.settled();
    } finally {
      this.#hurried -= 1;
    }
  }

  /** Resolves when the outbox is empty; rejects when that fails. */
  async finish(): Promise<void> {
    await this.settledAfter(async () => {
      await this.settled();
      if (!this.#isEmpty()) this.drain();
    });
    if (!this.#isEmpty()) throw new Error("An outbox of the room could not be passed on yet");
  }

  async #run(): Promise<void> {
    try {
      await null; // includes the entries that the current turn has yet to record
      let isComplete = true;
      const calls = this.#ports.newCalls();
      for (let entries = this.#list(); entries.length > 0 && isComplete; entries = this.#list()) {
        isComplete = (await this.#fanOut(entries, calls)) && calls.hasLeft;
      }
      if (isComplete) {
        this.#failures = 0;
        this.#streak.ended();
      } else this.#failures = calls.hasLeft ? this.#failures + 1 : 1; // an invocation that is used up is no failure
    } catch (error) {
      this.#failures += 1;
      this.#streak.failed(error);
    }
    this.#running = null;
    this.#retryAt = this.#failures === 0 ? null : this.#ports.now() + backoffMs(this.#failures, RETRY);
  }

  #isEmpty(): boolean {
    return this.#ports.outbox.list(1).length === 0;
  }

  #list(): Any[] {
    return this.#ports.outbox.list(BATCH_SIZE);
  }

  /** Deletes entries that reached all recipients, and keeps the unreached ones with the others. True when none is left. */
  async #fanOut(entries: readonly Any[], calls: WorkBudget): Promise<boolean> {
    const { storage, outbox } = this.#ports;
    const { left, failures } = await this.#ports.fanOut(entries, calls, this.#hurried === 0);
    if (failures.length > 0) this.#streak.failed(combined(failures));
    storage.transaction(() => {
      for (const [seq, group] of Map.groupBy(entries, (entry) => entry.seq)) {
        if (!group.some(({ id }) => left.has(id))) outbox.delete(seq);
        else for (const { id } of group) outbox.writePending(seq, left.get(id) ?? NONE, id);
      }
    });
    return left.size === 0;
  }
}
