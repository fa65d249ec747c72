/** The only SQL for an organization's first join and hourly counts. */
import { and, asc, eq, gte, isNotNull, sql } from "drizzle-orm";
import { build, columnsOf, FENCED, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { prepared } from "../../platform/d1/prepared-statement.ts";
import { rooms } from "../rooms/table.ts";
import { type HourRow, hourlyCounts } from "./table.ts";

const firstJoin = prepared(() =>
  build
    .select({ firstJoinAt: sql<number | null>`min(${rooms.firstJoinAt})`.as("firstJoinAt") })
    .from(rooms)
    // With the condition, an index has only rooms that were joined, the earliest first.
    .where(and(eq(rooms.accountId, sql.placeholder("accountId")), isNotNull(rooms.firstJoinAt))),
);

/** The first join of any user (epoch ms); null before it. */
export const selectFirstJoin = ({ accountId }: Tenant): Statement<{ firstJoinAt: number | null }> =>
  firstJoin({ accountId });

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

/** The hours of all organizations. */
export const HOURS: Expiring = { table: "hourly_counts", column: "hour", and: `account_id NOT IN ${FENCED}` };
