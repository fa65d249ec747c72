/** The only way to the object of a subscriber: turns its key into its stub. */
import type { Env } from "../config.ts";
import type { SubscriberKey, Subscribers } from "./subscriber-port.ts";

export function subscribersOf(env: Env): Subscribers {
  const stub = ({ kind, id }: SubscriberKey) => env.SUBSCRIBERS.getByName(`${kind}:${id}`);
  return {
    take: async (key, envelopes, version) => stub(key).take(key, [...envelopes], version),
    expect: async (key, version) => stub(key).expect(version),
    forget: async (key) => stub(key).forget(),
    listDeliveries: async (key, { status }, { limit, offset }) =>
      stub(key).listDeliveries(status, limit, offset),
    redeliver: async (key, deliveryId) => stub(key).redeliver(key, deliveryId),
    send: async (key, envelope) => stub(key).send(key, envelope),
    listExecutions: async (key, { limit, offset }) => stub(key).listExecutions(limit, offset),
    run: async (key, envelope) => stub(key).run(key, envelope),
  };
}
