/** Removes the webhooks of a deleted organization with their deliveries, in slices. */
import type { SubscriberGateway } from "../delivery/port/subscriber-port.ts";
import type { Tenant } from "../platform/d1.ts";
import type { Slices } from "../platform/slices.ts";
import { subscriberKey } from "./queries.ts";
import { deleteWebhook, disableAll, selectSome } from "./store.ts";

const AT_ONCE = 50;

/**
 * Removes webhooks until none or no slice is left, and returns true if none is. They are disabled first, so that no event
 * reaches an object whose deliveries are gone.
 */
export async function purgeWebhooks(
  tenant: Tenant,
  subscribers: Pick<SubscriberGateway, "remove">,
  slices: Slices,
  now: number,
): Promise<boolean> {
  return slices.finish(async () => {
    const [, found] = await tenant.db.run([disableAll(tenant, now), selectSome(tenant, AT_ONCE)]);
    await Promise.all(found.map(({ id }) => subscribers.remove(subscriberKey(tenant, id))));
    for (const { id } of found) await tenant.db.run([deleteWebhook(tenant, id)]);
    return { isFull: found.length === AT_ONCE };
  });
}
