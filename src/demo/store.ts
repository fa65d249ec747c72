/** The statements about the boards of the demo, and about the identities that belong to them. */
import { and, count, eq, gte, inArray, lt, sql } from "drizzle-orm";
import { rooms } from "../features/rooms/table.ts";
import { build, type Statement, statement, type Tenant } from "../platform/d1/d1.ts";
import { BOARD_PREFIX, QUICKSTART_PREFIX } from "./boards.ts";

/** The end of a range of custom IDs with a prefix. A range rather than LIKE, which the index of custom IDs does not serve. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

const areBoards = ({ accountId }: Tenant) =>
  and(
    eq(rooms.accountId, accountId),
    gte(rooms.customId, BOARD_PREFIX),
    lt(rooms.customId, endOf(BOARD_PREFIX)),
  );

export const countBoards = (tenant: Tenant): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(rooms)
      .where(areBoards(tenant)),
  );

/** People come back to a board by its link, and to the room of a quickstart they cannot. */
const byNeed = sql`substr(custom_id, 1, ${sql.raw(String(QUICKSTART_PREFIX.length))}) = ${QUICKSTART_PREFIX}, created_at DESC`;

/**
 * Ends the time of boards that no one is in, but for the newest `kept`; `limit` of them at most. Rooms of quickstarts go
 * before all others.
 */
export const expireSurplusBoards = (tenant: Tenant, kept: number, limit: number, now: number): Statement =>
  statement(
    build
      .update(rooms)
      .set({ expiresAt: now })
      .where(
        and(
          eq(rooms.accountId, tenant.accountId),
          inArray(
            rooms.id,
            build
              .select({ id: rooms.id })
              .from(rooms)
              .where(and(areBoards(tenant), eq(rooms.activeParticipants, 0)))
              .orderBy(byNeed)
              .limit(limit)
              .offset(kept),
          ),
        ),
      ),
  );

/** The identities of visitors and helpers of boards that are gone. */
export const selectLeftIdentities = (
  { accountId }: Tenant,
  limit: number,
): Statement<{ id: string }> => statement`SELECT id FROM identities
    WHERE account_id = ${accountId} AND custom_id > ${BOARD_PREFIX}
    AND custom_id < ${endOf(BOARD_PREFIX)}
      AND NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.account_id = ${accountId} AND deleted_at IS NULL
        AND rooms.id = substr(identities.custom_id, ${BOARD_PREFIX.length + 1}, 36))
    LIMIT ${limit}`;
