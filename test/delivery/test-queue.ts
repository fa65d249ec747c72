/** A subscriber's object with a clock that only the test advances, and numbered events for it. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import type { HandledEvent, HandlerState } from "../../src/delivery/subscriber/handler.ts";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";

/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
export const START = Date.UTC(2100, 0, 1);

export function outgoingEvent(number: number, fields: Partial<OutgoingEvent> = {}): OutgoingEvent {
  const eventId = fields.eventId ?? crypto.randomUUID();
  const body = JSON.stringify({ id: eventId, number });
  return { eventId, event: "user.created", roomId: "room", body, occurredAt: START, ...fields };
}

export const handledEvent = (number: number, fields: Partial<HandledEvent> = {}): HandledEvent => ({
  ...outgoingEvent(number, fields),
  replayId: null,
  isOnce: true,
  ...fields,
});

export function memoryState(): HandlerState {
  let memory = "{}";
  return {
    read: () => memory,
    write: (json) => {
      memory = json;
    },
  };
}

export class TestQueue {
  readonly key: SubscriberKey;
  now = START;

  constructor(key: SubscriberKey) {
    this.key = key;
  }

  get stub(): DurableObjectStub<SubscriberObjectBase> {
    return env.SUBSCRIBERS.getByName(`${this.key.kind}:${this.key.id}`);
  }

  inside<T>(work: (object: SubscriberObjectBase, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: SubscriberObjectBase, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  enqueue(...events: OutgoingEvent[]): Promise<void> {
    return openDelivery(env).subscribers(this.key).enqueue(this.key, events, 1);
  }

  /** Advances the clock and runs the alarm; false when none is set. */
  async advance(ms: number): Promise<boolean> {
    this.now += ms;
    await this.inside(() => undefined);
    return runDurableObjectAlarm(this.stub);
  }

  alarmAt(): Promise<number | null> {
    return this.inside((_, { storage }) => storage.getAlarm());
  }

  /** How many tables of a queue there are: none before the first event, and after the subscriber's removal. */
  tables(): Promise<number> {
    return this.inside((_, { storage }) => {
      const query = "SELECT name FROM sqlite_master WHERE name IN ('deliveries', 'known', 'subscriber')";
      return storage.sql.exec(query).toArray().length;
    });
  }
}
