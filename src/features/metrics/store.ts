/** The only SQL for an organization's first join. */
import { and, eq, isNotNull, sql } from "drizzle-orm";
import { build, prepared, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { rooms } from "../rooms/table.ts";

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
