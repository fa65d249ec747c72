/** The statements about rooms that other features include in their batches. */
import { and, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { IS_LIVE, type RoomRow, rooms } from "./table.ts";

export type RoomKey = { readonly id: string } | { readonly customId: string };

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));
const isLive = sql.raw(IS_LIVE);
const byId = and(ofAccount, eq(rooms.id, sql.placeholder("id")), isLive);
const byCustomId = and(ofAccount, eq(rooms.customId, sql.placeholder("customId")), isLive);

/** The room's ID in SQL; NULL, which equals nothing, without the room. */
export const roomIdOf = (accountId: unknown, roomId: unknown): SQL =>
  sql`(SELECT rooms.id FROM rooms WHERE rooms.account_id = ${accountId} AND rooms.id = ${roomId} AND ${isLive})`;

const roomByKey = preparedByShape((shape: "id" | "customId") =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(shape === "id" ? byId : byCustomId)
    .limit(1),
);

export const selectRoom = ({ accountId }: Tenant, key: RoomKey): Statement<RoomRow> =>
  roomByKey("id" in key ? "id" : "customId", { accountId, ...key });

const roomsById = prepared(() =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(
      and(ofAccount, sql`${rooms.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`, isLive),
    ),
);

const joinedRoom = prepared(() =>
  build
    .select({ id: rooms.id })
    .from(rooms)
    .where(and(byId, isNotNull(rooms.firstJoinAt))),
);

/** Selects a row if the room has ever been joined. Until then its object is empty and needs no room commands. */
export const selectJoinedRoom = ({ accountId }: Tenant, roomId: string): Statement<{ id: string }> =>
  joinedRoom({ accountId, id: roomId });

const userCreationCount = prepared(() =>
  build
    .update(rooms)
    .set({ totalUsersCreated: sql`${rooms.totalUsersCreated} + 1` })
    .where(byId),
);

export const countUserCreation = ({ accountId }: Tenant, roomId: string): Statement =>
  userCreationCount({ accountId, id: roomId });

const firstJoin = prepared(() =>
  build
    .update(rooms)
    .set({ firstJoinAt: sql`${sql.placeholder("now")}` })
    .where(and(byId, isNull(rooms.firstJoinAt))),
);

/** Records the time of the room's first join; later joins change nothing. */
export const updateFirstJoin = ({ accountId }: Tenant, roomId: string, now: number): Statement =>
  firstJoin({ accountId, id: roomId, now });

const earliestJoin = prepared(() =>
  build
    .select({ firstJoinAt: sql<number | null>`min(${rooms.firstJoinAt})`.as("firstJoinAt") })
    .from(rooms)
    // With the condition, an index has only rooms that were joined, the earliest first.
    .where(and(ofAccount, isNotNull(rooms.firstJoinAt))),
);

/** The first join of any user (epoch ms); null before it. */
export const selectFirstJoin = ({ accountId }: Tenant): Statement<{ firstJoinAt: number | null }> =>
  earliestJoin({ accountId });

/** Deleted rooms whose rows remain included. */
export const selectSomeRooms = ({ accountId }: Tenant, limit: number): Statement<{ id: string }> =>
  statement(build.select({ id: rooms.id }).from(rooms).where(eq(rooms.accountId, accountId)).limit(limit));

/** The rooms behind an ID, in the order of IDs. */
export const selectRoomsAfter = (
  { accountId }: Tenant,
  after: string,
  limit: number,
): Statement<{ id: string }> => ({
  sql: `SELECT id FROM rooms WHERE account_id = ? AND id > ? AND ${IS_LIVE} ORDER BY id LIMIT ?`,
  params: [accountId, after, limit],
});

/** Hides the room. Triggers stop counting its content, and its custom ID is free. */
export const markDeleted = (
  { accountId }: Tenant,
  roomId: string,
  now: number,
): Statement<{ id: string }> => ({
  sql: `UPDATE rooms SET deleted_at = ?, custom_id = NULL, active_participants = 0, store_bytes = 0
        WHERE account_id = ? AND id = ? AND ${IS_LIVE} RETURNING id`,
  params: [now, accountId, roomId],
});

/** The rooms with these IDs, in no order. */
export const selectRoomsById = ({ accountId }: Tenant, ids: readonly string[]): Statement<RoomRow> =>
  roomsById({ accountId, ids: JSON.stringify(ids) });
