/** Counts a shard's new events for the metrics: one write at a time, of all that has happened since the one before. */
import { hourOf } from "../../metrics/counters/hourly-count-store.ts";

interface CounterPorts {
  /** Adds events to the hour that contains `at` (epoch ms). */
  write(at: number, events: number): Promise<unknown>;
  keepAlive(work: Promise<unknown>): void;
  /** Reports that some could not be counted. */
  failed(error: unknown): void;
}

export class EventCounter {
  readonly #ports: CounterPorts;
  /** By the start of their hour. */
  #counts = new Map<number, number>();
  #isWriting = false;

  constructor(ports: CounterPorts) {
    this.#ports = ports;
  }

  /** Counts events that happened at `at` (epoch ms). A crash right afterwards may lose the count. */
  count(at: number, events: number): void {
    const hour = hourOf(at);
    this.#counts.set(hour, (this.#counts.get(hour) ?? 0) + events);
    if (!this.#isWriting) this.#ports.keepAlive(this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#counts.size > 0) {
      const counts = this.#counts;
      this.#counts = new Map();
      try {
        for (const [hour, events] of counts) await this.#ports.write(hour, events);
      } catch (error) {
        this.#ports.failed(error);
      }
    }
    this.#isWriting = false;
  }
}
