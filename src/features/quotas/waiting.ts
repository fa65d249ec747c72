/** What waits for webhooks and workflows, as quotas count it: for one, and for all of an organization. */
import type { Tenant } from "../../platform/d1/d1.ts";
import type { QuotaDefaults, QuotaUse } from "../../wire/quota.ts";
import { deleteBacklog, upsertBacklog } from "./backlog-store.ts";
import { usedOf } from "./queries.ts";
import { selectQuotas } from "./shared-store.ts";

/** What waits for a webhook or workflow. */
export interface Waiting {
  readonly events: number;
  /** What they take in storage. */
  readonly bytes: number;
}

/** What waits for all webhooks and workflows of an organization. */
export interface WaitingAltogether {
  readonly events: Pick<QuotaUse, "used" | "limit">;
  readonly bytes: Pick<QuotaUse, "used" | "limit">;
  /** For how many of them something waits. */
  readonly subscribers: number;
}

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

/**
 * How much of the quotas is used, as far as a subscriber has its part in that: 1 or more when the organization is at a
 * limit, and at least an equal part of the limit waits for this subscriber. At a limit there is always such a one, and
 * one that lags less than others is none. Pure.
 */
export function quotaShare({ events, bytes }: Waiting, altogether: WaitingAltogether): number {
  const share = (own: number, { used, limit }: WaitingAltogether["events"]) =>
    Math.min(used, own * altogether.subscribers) / Math.max(1, limit);
  return Math.max(share(events, altogether.events), share(bytes, altogether.bytes));
}
