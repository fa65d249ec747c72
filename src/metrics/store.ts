/** The only SQL for an organization's totals and hourly counts. */
import { and, asc, count, eq, gte, lt, sql } from "drizzle-orm";
import { build, columnsOf, isNotFenced, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { rooms } from "../rooms/table.ts";
import { users } from "../users/table.ts";
import { type HourRow, hourlyCounts } from "./table.ts";

/** Totals over all rooms, from the stats that their objects copy to D1. */
export interface RoomTotals {
  readonly total: number;
  readonly online: number;
  readonly participants: number;
  /** The first join of any user (epoch ms); null before it. */
  readonly firstJoinAt: number | null;
}

export const selectRoomTotals = ({ accountId }: Tenant): Statement<RoomTotals> =>
  statement(
    build
      .select({
        total: count().as("total"),
        online: sql<number>`coalesce(sum(${rooms.activeParticipants} > 0), 0)`.as("online"),
        participants: sql<number>`coalesce(sum(${rooms.activeParticipants}), 0)`.as("participants"),
        firstJoinAt: sql<number | null>`min(${rooms.firstJoinAt})`.as("firstJoinAt"),
      })
      .from(rooms)
      .where(eq(rooms.accountId, accountId)),
  );

export const countUsers = ({ accountId }: Tenant): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(users)
      .where(eq(users.accountId, accountId)),
  );

/** The hours since `from` (epoch ms) with any activity, the earliest first. */
export const selectHours = ({ accountId }: Tenant, from: number): Statement<HourRow> => {
  const { accountId: _, ...columns } = columnsOf(hourlyCounts);
  return statement(
    build
      .select(columns)
      .from(hourlyCounts)
      .where(and(eq(hourlyCounts.accountId, accountId), gte(hourlyCounts.hour, from)))
      .orderBy(asc(hourlyCounts.hour)),
  );
};

/** Deletes the hours before `before` (epoch ms) of all organizations. */
export const deleteHours = (before: number): Statement =>
  statement(
    build.delete(hourlyCounts).where(and(lt(hourlyCounts.hour, before), isNotFenced(hourlyCounts.accountId))),
  );
