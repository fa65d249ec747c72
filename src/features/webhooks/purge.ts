/** Removes the webhooks of a deleted organization with their deliveries, in chunks. */
import type { SubscriberGateway } from "../../delivery/port/subscriber-port.ts";
import { purgeSubscribers } from "../../delivery/purge.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWebhook, disableAll, selectSome } from "./store.ts";

/** Removes webhooks until none is left (true) or the budget is spent. */
export const purgeWebhooks = (
  tenant: Tenant,
  subscribers: Pick<SubscriberGateway, "remove" | "subscriptionsChanged">,
  budget: WorkBudget,
  now: number,
): Promise<boolean> =>
  purgeSubscribers(tenant, subscribers, budget, {
    disableAll: () => disableAll(tenant, now),
    selectSome: (limit) => selectSome(tenant, limit),
    keyOf: (id) => subscriberKey(tenant, id),
    remove: (id) => [deleteWebhook(tenant, id)],
  });
