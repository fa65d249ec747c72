/** Who waits for the first attempt of a delivery: the callers that requested it by hand. */
import type { DeliveryRecord } from "../port/delivery-record.ts";
import type { DeliveryStore } from "./delivery-store.ts";

export class FirstAttempts {
  readonly #store: DeliveryStore;
  /** By the delivery's seq. */
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  constructor(store: DeliveryStore) {
    this.#store = store;
  }

  isAwaited(seq: number): boolean {
    return this.#waiting.has(seq);
  }

  /** The delivery as it is after its first attempt; null when no record was kept. */
  async wait(delivery: DeliveryRecord): Promise<DeliveryRecord | null> {
    if (delivery.status !== "pending") return delivery;
    const waiting = this.#waiting.get(delivery.seq) ?? Promise.withResolvers<void>();
    this.#waiting.set(delivery.seq, waiting);
    await waiting.promise;
    return this.#store.find(delivery.seq);
  }

  /** Its outcome is in storage. */
  answer(seq: number): void {
    this.#waiting.get(seq)?.resolve();
    this.#waiting.delete(seq);
  }

  /** The subscriber is deleted: nothing is attempted any more. */
  answerAll(): void {
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }
}
