/** The statements about the boards of the demo, and about the identities and groups that belong to them. */
import { and, count, eq, gte, lt, sql } from "drizzle-orm";
import { rooms } from "../features/rooms/table.ts";
import { build, type Statement, statement, type Tenant } from "../platform/d1/d1.ts";
import { BOARD, BOARD_PREFIX, ownedPrefix } from "./boards.ts";

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

/** An identity of the demo; visitors, helpers and no guests have a custom ID. */
interface DemoIdentity {
  readonly id: string;
  readonly name: string;
  readonly customId: string | null;
}

/** The identity of a user of a board. */
export const selectIdentityOf = (
  { accountId }: Tenant,
  roomId: string,
  userId: string,
): Statement<DemoIdentity> => ({
  sql: `SELECT identities.id, identities.name, identities.custom_id AS customId FROM users
          JOIN identities ON identities.account_id = users.account_id AND identities.id = users.identity_id
        WHERE users.account_id = ? AND users.room_id = ? AND users.id = ?`,
  params: [accountId, roomId, userId],
});

/** The identities of a board but its guests, in the order in which they came. */
export const selectIdentities = ({ accountId }: Tenant, roomId: string): Statement<DemoIdentity> => ({
  sql: `SELECT id, name, custom_id AS customId FROM identities
        WHERE account_id = ? AND custom_id > ? AND custom_id < ? ORDER BY created_at, id LIMIT ?`,
  params: [accountId, ownedPrefix(roomId), endOf(ownedPrefix(roomId)), 2 * BOARD.maxVisitors],
});

/** The identities or groups of boards that are gone. */
export const selectLeft = (
  { accountId }: Tenant,
  table: "identities" | "identity_groups",
  limit: number,
): Statement<{ id: string }> => ({
  sql: `SELECT id FROM ${table} WHERE account_id = ?1 AND custom_id > ?2 AND custom_id < ?3
          AND NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.account_id = ?1 AND deleted_at IS NULL
            AND rooms.id = substr(${table}.custom_id, ?4, 36))
        LIMIT ?5`,
  params: [accountId, BOARD_PREFIX, endOf(BOARD_PREFIX), BOARD_PREFIX.length + 1, limit],
});
