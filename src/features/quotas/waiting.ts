/** Writes the backlogs of webhooks and workflows, and reads the quotas for them. */
import type { Waiting, WaitingAltogether } from "../../delivery/subscriber/subscriber-ports.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import type { QuotaDefaults } from "../../wire/quota.ts";
import { deleteBacklog, upsertBacklog } from "./backlog-store.ts";
import { usedOf } from "./queries.ts";
import { selectQuotas } from "./shared-store.ts";

/**
 * Writes what waits for a webhook or workflow, and returns what waits altogether, in one round trip. Nothing is written
 * for one that is deleted.
 */
export async function reportWaiting(
  tenant: Tenant,
  subscriberId: string,
  waiting: Waiting,
  defaults: QuotaDefaults,
): Promise<WaitingAltogether> {
  const change =
    waiting.events === 0 ? deleteBacklog(tenant, subscriberId) : upsertBacklog(tenant, subscriberId, waiting);
  const [, rows] = await tenant.db.run([change, selectQuotas(tenant)]);
  const totalOf = (quota: "waiting_events" | "waiting_bytes") => {
    const { used, limit } = usedOf(rows, quota, defaults);
    return { used, limit };
  };
  return {
    events: totalOf("waiting_events"),
    bytes: totalOf("waiting_bytes"),
    subscribers: rows.find(({ quota }) => quota === "backlogs")?.used ?? 0,
  };
}
