/** The SQL that copies a room's counters to its row. */
import { and, lte, type SQL, sql } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import { whereIs } from "./store.ts";
import { rooms, STILL_ACTIVE } from "./table.ts";

/** The stats of a room, and what its stores have together, as they are at a time (epoch ms). */
export interface ProjectedStats extends RoomStats {
  readonly storeBytes: number;
  readonly at: number;
}

/** A visit may begin and end between two copies: only the time that it took shows it then. */
const lastActiveAt = ({ occupiedSince, occupiedMs, at }: ProjectedStats): SQL =>
  occupiedSince === null
    ? sql`CASE WHEN ${rooms.lastActiveAt} >= ${STILL_ACTIVE} OR ${rooms.occupiedMs} <> ${occupiedMs}
          THEN ${at} ELSE ${rooms.lastActiveAt} END`
    : sql`${STILL_ACTIVE + occupiedSince}`;

/** Writes a copy of a room's live stats, unless the row holds a newer one. Returns its custom ID and the organization's token epoch. */
export const updateStats = (
  tenant: Tenant,
  roomId: string,
  stats: ProjectedStats,
  statsVersion: number,
): Statement<{ customId: string | null; accountTokenEpoch: number }> => {
  const { at: _, ...copied } = stats;
  return statement(
    build
      .update(rooms)
      .set({ ...copied, lastActiveAt: lastActiveAt(stats), statsVersion })
      .where(and(whereIs(tenant, roomId), lte(rooms.statsVersion, statsVersion)))
      .returning({
        customId: rooms.customId,
        accountTokenEpoch:
          sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = rooms.account_id)`.as(
            "accountTokenEpoch",
          ),
      }),
  );
};
