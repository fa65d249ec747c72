/** Removes the webhooks of a deleted organization with their deliveries, in slices. */
import type { SubscriberGateway } from "../../delivery/port/subscriber-port.ts";
import { purgeSubscribers } from "../../delivery/purge.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { Slices } from "../../platform/flow/slices.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWebhook, disableAll, selectSome } from "./store.ts";

/** Removes webhooks until none or no slice is left, and returns true if none is. */
export const purgeWebhooks = (
  tenant: Tenant,
  subscribers: Pick<SubscriberGateway, "remove" | "subscriptionsChanged">,
  slices: Slices,
  now: number,
): Promise<boolean> =>
  purgeSubscribers(tenant, subscribers, slices, {
    disableAll: () => disableAll(tenant, now),
    selectSome: (limit) => selectSome(tenant, limit),
    keyOf: (id) => subscriberKey(tenant, id),
    remove: (id) => [deleteWebhook(tenant, id)],
  });
