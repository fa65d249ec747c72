/** Deliveries that are requested by hand, such as a test or a redelivery: ahead of the others, each in a lane of its own. */
import type { DeliveryRecord, OutgoingEvent } from "../port/delivery-record.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import type { DeliveryStore } from "./delivery-store.ts";

/** The callers that wait for the first attempts of deliveries which they requested by hand. */
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

/** A delivery requested by hand. */
interface ManualDelivery {
  /** As it is now. */
  readonly delivery: DeliveryRecord;
  /** As it is after its first attempt; null when no record was kept. */
  readonly attempted: Promise<DeliveryRecord | null>;
}

/** The queue, as manual deliveries use it. */
interface ManualPorts {
  /** Epoch milliseconds. */
  now(): number;
  /** Starts the stored delivery before all others. */
  start(key: SubscriberKey, deliveryId: string): void;
}

export class ManualDeliveries {
  readonly #store: DeliveryStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #ports: ManualPorts;

  constructor(store: DeliveryStore, firstAttempts: FirstAttempts, ports: ManualPorts) {
    this.#store = store;
    this.#firstAttempts = firstAttempts;
    this.#ports = ports;
  }

  enqueue(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const delivery = this.#store.transaction(() => {
      this.#store.open(key);
      const seq = this.#store.insert(event, null, this.#ports.now());
      this.#store.linkEvent(event.eventId, seq);
      return this.#store.find(seq);
    });
    if (delivery === null) throw new Error("A delivery was written but cannot be read");
    const attempted = this.#firstAttempts.wait(delivery);
    this.#ports.start(key, delivery.id);
    return { delivery, attempted };
  }

  /** The same, once per event id: a repetition waits for the outcome of the first call. */
  enqueueOnce(key: SubscriberKey, event: OutgoingEvent): ManualDelivery {
    const now = this.#ports.now();
    const earlier = this.#store.transaction(() => {
      this.#store.open(key);
      const isNew = this.#store.recordEventId(event.eventId, now);
      return isNew ? null : this.#store.findByEvent(event.eventId);
    });
    return earlier === null
      ? this.enqueue(key, event)
      : { delivery: earlier, attempted: this.#firstAttempts.wait(earlier) };
  }
}
