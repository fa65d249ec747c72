/** Hands the room's events over as soon as they are written down, in their order, and again until that succeeds. */
import type { RoomStorage } from "../storage/storage.ts";
import type { PendingEvent } from "../storage/storage-outbox.ts";

export interface OutboxDrainPorts {
  now(): number;
  readonly storage: RoomStorage;
  /** Gives events to those who listen. Answers who could not be reached, as JSON by event id; rejects if nobody could. */
  fanOut(events: readonly PendingEvent[]): Promise<ReadonlyMap<string, string>>;
  keepAlive(work: Promise<unknown>): void;
  failed(error: unknown): void;
}

/** Handed over at once. */
const BATCH_SIZE = 200;
/** While it goes on, an alarm is set that a crash would not outlive. */
const WATCH_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export class OutboxDrain {
  readonly #ports: OutboxDrainPorts;
  #running: Promise<void> | null = null;
  /** When what failed is tried again (epoch ms); null while nothing waits. */
  #retryAt: number | null = null;
  #failures = 0;

  constructor(ports: OutboxDrainPorts) {
    this.#ports = ports;
  }

  /** There are events: hands over all there are, and those that come meanwhile. */
  drain(): void {
    if (this.#running !== null) return;
    this.#running = this.#run();
    this.#ports.keepAlive(this.#running);
  }

  /** Tries again what failed, if its time has come. */
  retry(): void {
    if (this.#retryAt !== null && this.#retryAt <= this.#ports.now()) this.drain();
  }

  /** When to look after it next (epoch ms); null when there is nothing to hand over. */
  dueAt(): number | null {
    return this.#running === null ? this.#retryAt : this.#ports.now() + WATCH_MS;
  }

  /** Settles when what goes on is over, whether it succeeded or not. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Settles when nothing is left; rejects when something is. */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#ports.storage.events.list(1).length === 0) return;
    this.drain();
    await this.#running;
    if (this.#retryAt !== null) throw new Error("Events of the room could not be handed over yet");
  }

  async #run(): Promise<void> {
    try {
      await null; // what this turn still writes down goes along
      let isComplete = true;
      for (let events = this.#list(); events.length > 0 && isComplete; events = this.#list()) {
        isComplete = await this.#handOver(events);
      }
      this.#failures = isComplete ? 0 : this.#failures + 1;
    } catch (error) {
      this.#failures += 1;
      this.#ports.failed(error);
    }
    this.#running = null;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LAST_RETRY_MS);
    this.#retryAt = this.#failures === 0 ? null : this.#ports.now() + delayMs;
  }

  #list(): PendingEvent[] {
    return this.#ports.storage.events.list(BATCH_SIZE);
  }

  /** True when all of them were handed over to everybody. */
  async #handOver(events: readonly PendingEvent[]): Promise<boolean> {
    const { storage } = this.#ports;
    const owed = await this.#ports.fanOut(events);
    storage.transaction(() => {
      for (const { seq, id } of events) {
        const listeners = owed.get(id);
        if (listeners === undefined) storage.events.delete(seq);
        else storage.events.writePendingSubscriptions(seq, listeners);
      }
    });
    return owed.size === 0;
  }
}
