/** Drains the room's outbox: passes events on in order as soon as they are recorded, and retries. */
import { backoffMs } from "../../../platform/flow/backoff.ts";
import { newCallBudget, type WorkBudget } from "../../../platform/flow/work-budget.ts";
import type { OutboxEvent } from "../../storage/sqlite-outbox.ts";
import type { RoomStorage } from "../../storage/storage.ts";

interface OutboxDrainPorts {
  now(): number;
  readonly storage: RoomStorage;
  /**
   * Enqueues events at their subscribers by at most so many calls. Resolves to the subscriptions that could not be
   * reached, as JSON by event id; rejects when the subscriptions could not be read.
   */
  fanOut(events: readonly OutboxEvent[], calls: WorkBudget): Promise<ReadonlyMap<string, string>>;
  keepAlive(work: Promise<unknown>): void;
  /** Reports a failed fan-out, which will be retried. */
  failed(error: unknown): void;
}

const BATCH_SIZE = 200;
/** While a drain is running, an alarm is set this far ahead: it survives a crash, the drain does not. */
const CRASH_RECOVERY_MS = 5_000;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };

export class OutboxDrain {
  readonly #ports: OutboxDrainPorts;
  #running: Promise<void> | null = null;
  /** When the next retry is due (epoch ms); null when none is. */
  #retryAt: number | null = null;
  #failures = 0;

  constructor(ports: OutboxDrainPorts) {
    this.#ports = ports;
  }

  /** Passes on all events in the outbox, including those recorded in the meantime. */
  drain(): void {
    if (this.#running !== null) return;
    this.#running = this.#run();
    this.#ports.keepAlive(this.#running);
  }

  /** Passes on the events of an earlier life of the object. */
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

  /** Resolves when the outbox is empty; rejects when that fails. */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#isEmpty()) return;
    this.drain();
    await this.#running;
    if (this.#retryAt !== null) throw new Error("Some of the room's events could not be passed on yet");
  }

  async #run(): Promise<void> {
    try {
      await null; // includes the events that the current turn has yet to record
      let isComplete = true;
      const { calls } = newCallBudget();
      for (let events = this.#list(); events.length > 0 && isComplete; events = this.#list()) {
        isComplete = (await this.#fanOut(events, calls)) && calls.hasLeft;
      }
      if (isComplete) this.#failures = 0;
      else this.#failures = calls.hasLeft ? this.#failures + 1 : 1; // an invocation that is used up is no failure
    } catch (error) {
      this.#failures += 1;
      this.#ports.failed(error);
    }
    this.#running = null;
    this.#retryAt = this.#failures === 0 ? null : this.#ports.now() + backoffMs(this.#failures, RETRY);
  }

  #isEmpty(): boolean {
    return this.#ports.storage.events.list(1).length === 0;
  }

  #list(): OutboxEvent[] {
    return this.#ports.storage.events.list(BATCH_SIZE);
  }

  /** Deletes events that reached all subscribers, and keeps the unreached ones with the others. True when none is left. */
  async #fanOut(events: readonly OutboxEvent[], calls: WorkBudget): Promise<boolean> {
    const { storage } = this.#ports;
    const unreached = await this.#ports.fanOut(events, calls);
    storage.transaction(() => {
      for (const { seq, id } of events) {
        const subscriptions = unreached.get(id);
        if (subscriptions === undefined) storage.events.delete(seq);
        else storage.events.writePendingSubscriptions(seq, subscriptions);
      }
    });
    return unreached.size === 0;
  }
}
