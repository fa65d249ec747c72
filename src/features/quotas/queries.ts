/** The queries about quotas. */

import {
  isInDirectory,
  QUOTAS,
  type QuotaDefaults,
  type QuotaName,
  type QuotaUse,
} from "@atrium/contract/resources/quota.ts";
import type { BacklogSize, OrganizationBacklog } from "../../delivery/subscriber/handler.ts";
import type { Database, Tenant } from "../../platform/d1/d1.ts";
import { deleteBacklog, type QuotaRow, selectQuotas, upsertBacklog } from "./statements.ts";

interface Defaults {
  readonly quotaDefaults: QuotaDefaults;
}

/** The use and the limit of every quota, as far as this database counts it: see {@link isInDirectory}. */
export async function readQuotas(tenant: Tenant & Defaults): Promise<QuotaUse[]> {
  const [rows] = await tenant.db.run([selectQuotas(tenant)]);
  return QUOTAS.map((quota) => usedOf(rows, quota, tenant.quotaDefaults));
}

export async function listQuotas(
  tenant: Tenant & Defaults & { readonly directory: Database },
): Promise<QuotaUse[]> {
  const { db, directory } = tenant;
  if (db === directory) return readQuotas(tenant);
  const [placed, ofPeople] = await Promise.all([
    readQuotas(tenant),
    readQuotas({ ...tenant, db: directory }),
  ]);
  return placed.map((use, index) => (isInDirectory(use.quota) ? (ofPeople[index] ?? use) : use));
}

export function usedOf(rows: readonly QuotaRow[], quota: QuotaName, defaults: QuotaDefaults): QuotaUse {
  const row = rows.find((candidate) => candidate.quota === quota);
  return { quota, used: row?.used ?? 0, limit: row?.max ?? defaults[quota] };
}

/** Writes the backlog of a webhook or workflow unless it is deleted, and returns the sums. One round trip. */
export async function reportBacklogSize(
  tenant: Tenant,
  subscriberId: string,
  waiting: BacklogSize,
  defaults: QuotaDefaults,
): Promise<OrganizationBacklog> {
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
