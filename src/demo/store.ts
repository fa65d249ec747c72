/** The statements about the boards of the demo. */
import { and, count, eq, gte, lt, sql } from "drizzle-orm";
import { rooms } from "../features/rooms/table.ts";
import { build, type Statement, statement, type Tenant } from "../platform/d1/d1.ts";
import { BOARD_PREFIX } from "./boards.ts";

/** A range rather than LIKE, which the index of custom IDs does not serve. */
const areBoards = ({ accountId }: Tenant) =>
  and(
    eq(rooms.accountId, accountId),
    gte(rooms.customId, BOARD_PREFIX),
    lt(rooms.customId, `${BOARD_PREFIX}\u{10ffff}`),
  );

export const countBoards = (tenant: Tenant): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(rooms)
      .where(areBoards(tenant)),
  );

/** Boards from before `before` (epoch ms), oldest first. */
export const selectBoardsBefore = (
  tenant: Tenant,
  before: number,
  limit: number,
): Statement<{ id: string }> =>
  statement(
    build
      .select({ id: rooms.id })
      .from(rooms)
      .where(and(areBoards(tenant), lt(rooms.createdAt, before)))
      .orderBy(rooms.createdAt)
      .limit(limit),
  );

/** Boards that no one is in, oldest first, but for the newest `kept`. */
export const selectSurplusBoards = (tenant: Tenant, kept: number, limit: number): Statement<{ id: string }> =>
  statement(
    build
      .select({ id: rooms.id })
      .from(rooms)
      .where(and(areBoards(tenant), eq(rooms.activeParticipants, 0)))
      .orderBy(sql`created_at DESC`)
      .limit(limit)
      .offset(kept),
  );
