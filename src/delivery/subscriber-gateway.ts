/** The only way to the object of a subscriber: turns its key into its stub. */
import type { Env } from "../config.ts";
import type { SubscriberGateway, SubscriberKey } from "./subscriber-port.ts";

export function subscriberGateway(env: Env): SubscriberGateway {
  const stub = ({ kind, id }: SubscriberKey) => env.SUBSCRIBERS.getByName(`${kind}:${id}`);
  return {
    enqueue: async (key, events, version) => stub(key).enqueue(key, [...events], version),
    requireVersion: async (key, version) => stub(key).requireVersion(version),
    remove: async (key) => stub(key).remove(),
    listDeliveries: async (key, { status }, { limit, offset }) =>
      stub(key).listDeliveries(status, limit, offset),
    redeliver: async (key, deliveryId) => stub(key).redeliver(key, deliveryId),
    send: async (key, envelope) => stub(key).send(key, envelope),
    listExecutions: async (key, { limit, offset }) => stub(key).listExecutions(limit, offset),
    run: async (key, envelope) => stub(key).run(key, envelope),
  };
}
