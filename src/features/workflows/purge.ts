/** Removes the workflows of a deleted organization with their executions, in slices. */
import type { SubscriberGateway } from "../../delivery/port/subscriber-port.ts";
import { purgeSubscribers } from "../../delivery/purge.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { Slices } from "../../platform/flow/slices.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWorkflow, disableAll, retireScript, selectSome } from "./store.ts";

/** Removes workflows until none or no slice is left, and returns true if none is. */
export const purgeWorkflows = (
  tenant: Tenant,
  subscribers: Pick<SubscriberGateway, "remove" | "subscriptionsChanged">,
  slices: Slices,
  now: number,
): Promise<boolean> =>
  purgeSubscribers(tenant, subscribers, slices, {
    disableAll: () => disableAll(tenant, now),
    selectSome: (limit) => selectSome(tenant, limit),
    keyOf: (id) => subscriberKey(tenant, id),
    remove: (id) => [retireScript(tenant, id, now), deleteWorkflow(tenant, id)],
  });
