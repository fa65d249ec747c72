/** The queries about quotas. */
import type { Tenant } from "../platform/d1.ts";
import { QUOTAS, type QuotaDefaults, type QuotaName, type QuotaUse } from "./quota.ts";
import { type QuotaRow, selectQuotas } from "./shared-store.ts";

/** The use and the limit of every quota. */
export async function listQuotas(
  tenant: Tenant & { readonly quotaDefaults: QuotaDefaults },
): Promise<QuotaUse[]> {
  const [rows] = await tenant.db.run([selectQuotas(tenant)]);
  return QUOTAS.map((quota) => usedOf(rows, quota, tenant.quotaDefaults));
}

/** The use of one quota, from the rows of {@link selectQuotas}. */
export function usedOf(rows: readonly QuotaRow[], quota: QuotaName, defaults: QuotaDefaults): QuotaUse {
  const row = rows.find((candidate) => candidate.quota === quota);
  return { quota, used: row?.used ?? 0, limit: row?.max ?? defaults[quota] };
}
