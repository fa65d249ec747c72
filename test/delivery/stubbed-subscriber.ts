/** A subscriber's object whose attempts end as the test says, with a clock that only the test advances. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import type { DeliveryStatus } from "../../src/delivery/subscriber/delivery.ts";
import type {
  DeliveryHandler,
  DeliveryOutcome,
  SubscriberPorts,
} from "../../src/delivery/subscriber/handler.ts";
import { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { subscriberPorts } from "../../src/objects.ts";
import { START } from "./test-queue.ts";

export const ATTEMPT = { attempted_at: new Date(START).toISOString(), duration_ms: 1 };

/** A handler that repeats attempts, and otherwise only does the test's work. */
export const handlerOf = (
  fields: Pick<DeliveryHandler, "deliver"> & Partial<DeliveryHandler>,
): DeliveryHandler => ({
  batch: null,
  interruption: null,
  pace: { maxInFlight: 2, pausedUntil: 0 },
  requireVersion: () => {},
  release: () => {},
  suspend: async () => {},
  reportBacklog: async () => {},
  ...fields,
});

interface Options {
  /** Key of the subscriber; the default is a webhook that does not exist. */
  readonly key?: SubscriberKey;
  readonly ports?: Partial<SubscriberPorts>;
  readonly handler?: Partial<DeliveryHandler>;
}

export class StubbedSubscriber {
  readonly state: DurableObjectState;
  readonly key: SubscriberKey;
  readonly #options: Options;
  now = START;
  /** The numbers of the events that were attempted. */
  readonly attempted: number[] = [];
  outcome: (number: number) => DeliveryOutcome | Promise<DeliveryOutcome> = () => ({
    type: "delivered",
    attempt: ATTEMPT,
  });
  suspensions = 0;
  object: SubscriberObjectBase;

  private constructor(state: DurableObjectState, key: SubscriberKey, options: Options) {
    this.state = state;
    this.key = key;
    this.#options = options;
    this.object = this.open();
  }

  /** Runs `work` inside the object. */
  static run<T>(work: (subject: StubbedSubscriber) => Promise<T>, options: Options = {}): Promise<T> {
    const key = options.key ?? { kind: "webhook", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
    return runInDurableObject(env.SUBSCRIBERS.getByName(`${key.kind}:${key.id}`), (_, state) =>
      work(new StubbedSubscriber(state, key, options)),
    );
  }

  /** The object as it is after a restart. */
  open(): SubscriberObjectBase {
    const handler = handlerOf({
      deliver: async ({ body }) => {
        const { number } = JSON.parse(body) as { number: number };
        this.attempted.push(number);
        return await this.outcome(number);
      },
      suspend: async () => {
        this.suspensions += 1;
      },
      ...this.#options.handler,
    });
    const ports = { ...subscriberPorts(env), ...this.#options.ports, createHandler: () => handler };
    this.object = new SubscriberObjectBase(this.state, env, ports);
    this.object.clock = () => this.now;
    return this.object;
  }

  enqueue(events: readonly OutgoingEvent[], version = 1): void {
    void this.object.enqueue(this.key, [...events], version);
  }

  /** Enqueues events for a caller that waits for quick attempts. Resolves when they are in storage. */
  offer(...events: readonly OutgoingEvent[]): Promise<void> {
    return this.object.enqueue(this.key, [...events], 1, true);
  }

  advance(ms: number): void {
    this.now += ms;
    this.object.alarm();
  }

  total(status: DeliveryStatus): number {
    return this.object.list(status, { limit: 1, offset: 0 }).total;
  }
}
