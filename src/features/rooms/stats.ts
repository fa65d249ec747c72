/** The copy in D1 of a room's live stats, for lists of rooms and for quotas. */
import type { Tenant } from "../../platform/d1/d1.ts";
import { type QuotaRow, selectQuotas } from "../quotas/statements.ts";
import { type ProjectedStats, updateStats } from "./stats-store.ts";

/**
 * Copies a room's live stats to its row, in one round trip. `version` increases with every change of the stats,
 * so a copy that arrives late never overwrites a newer one. A deleted room is no error. Returns the room's custom ID, the
 * organization's token epoch, so that a room learns of an ending that did not reach it, and its quotas, at no further cost.
 */
export async function updateRoomStats(
  tenant: Tenant,
  roomId: string,
  stats: ProjectedStats,
  version: number,
): Promise<{
  readonly customId: string | null;
  readonly accountTokenEpoch: number;
  readonly quotas: readonly QuotaRow[];
}> {
  const [[row], quotas] = await tenant.db.run([
    updateStats(tenant, roomId, stats, version),
    selectQuotas(tenant),
  ]);
  return { customId: row?.customId ?? null, accountTokenEpoch: row?.accountTokenEpoch ?? 0, quotas };
}
