/** Removes the webhooks of a deleted organization with their deliveries, in chunks. */
import { type DeliveryObjects, purgeSubscribers } from "../../delivery/subscribers.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWebhook, disableAll, selectSome } from "./store.ts";

/** Removes webhooks until none is left (true) or the budget is spent. */
export const purgeWebhooks = (
  tenant: Tenant,
  objects: DeliveryObjects,
  budget: WorkBudget,
  now: number,
): Promise<boolean> =>
  purgeSubscribers(tenant, objects, budget, {
    disableAll: () => disableAll(tenant, now),
    selectSome: (limit) => selectSome(tenant, limit),
    keyOf: (id) => subscriberKey(tenant, id),
    remove: (id) => [deleteWebhook(tenant, id)],
  });
