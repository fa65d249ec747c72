/** Removes the workflows of a deleted organization with their executions, in chunks. */
import { type DeliveryObjects, purgeSubscribers } from "../../delivery/subscribers.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWorkflow, disableAll, retireScript, selectSome } from "./store.ts";

/** Removes workflows until none is left (true) or the budget is spent. */
export const purgeWorkflows = (
  tenant: Tenant,
  objects: DeliveryObjects,
  budget: WorkBudget,
  now: number,
): Promise<boolean> =>
  purgeSubscribers(tenant, objects, budget, {
    disableAll: () => disableAll(tenant, now),
    selectSome: (limit) => selectSome(tenant, limit),
    keyOf: (id) => subscriberKey(tenant, id),
    remove: (id) => [retireScript(tenant, id, now), deleteWorkflow(tenant, id)],
  });
