/** Deliveries that are requested by hand, such as a test or a redelivery: ahead of the others, each in a lane of its own. */
import type { DeliveryRecord, OutgoingEvent } from "../port/delivery-record.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { FirstAttempts } from "./first-attempts.ts";

/** A delivery requested by hand. */
interface ManualDelivery {
  /** As it is now. */
  readonly delivery: DeliveryRecord;
  /** As it is after its first attempt; null when no record was kept. */
  readonly attempted: Promise<DeliveryRecord | null>;
}

/** What the queue does for them. */
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
