/** The only way to a subscriber's object: turns its key into its stub. */
import type { Env } from "../config.ts";
import type { SubscriberGateway, SubscriberKey } from "./port/subscriber-port.ts";

export function subscriberGateway(env: Pick<Env, "SUBSCRIBERS">): SubscriberGateway {
  const stub = ({ kind, id }: SubscriberKey) => env.SUBSCRIBERS.getByName(`${kind}:${id}`);
  return {
    enqueue: async (key, events, version) => stub(key).enqueue(key, events, version),
    notifyOfChange: async (key, version) => stub(key).notifyOfChange(version),
    remove: async (key) => stub(key).remove(),
    list: async (key, filter, { limit, offset }) => stub(key).list(filter, limit, offset),
    redeliver: async (key, deliveryId) => stub(key).redeliver(key, deliveryId),
    deliverNow: async (key, event) => stub(key).deliverNow(key, event),
    deliverNowOnce: async (key, event) => stub(key).deliverNowOnce(key, event),
  };
}
