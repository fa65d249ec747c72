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
import { type CountedLimit, IS_LIVE, ROOM_COUNTERS, type RoomRow, rooms } from "./table.ts";

export type RoomKey = { readonly id: string } | { readonly customId: string };

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));
const byId = and(ofAccount, eq(rooms.id, sql.placeholder("id")), IS_LIVE);
const byCustomId = and(ofAccount, eq(rooms.customId, sql.placeholder("customId")), IS_LIVE);

/** The room's ID in SQL; NULL, which equals nothing, without the room. */
export const roomIdOf = (accountId: unknown, roomId: unknown): SQL =>
  sql`(SELECT rooms.id FROM rooms WHERE rooms.account_id = ${accountId} AND rooms.id = ${roomId} AND ${IS_LIVE})`;

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
      and(ofAccount, sql`${rooms.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`, IS_LIVE),
    ),
);

/** The condition that there is the room. */
export const roomExists = ({ accountId }: Tenant, roomId: string): SQL =>
  sql`${roomIdOf(accountId, roomId)} IS NOT NULL`;

/** The condition that the room has ever been joined. Until then its object is empty and needs no room commands. */
export const wasJoined = ({ accountId }: Tenant, roomId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM rooms
      WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_LIVE} AND first_join_at IS NOT NULL)`;

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
): Statement<{ id: string }> =>
  statement`SELECT id FROM rooms WHERE account_id = ${accountId} AND id > ${after} AND ${IS_LIVE}
      ORDER BY id LIMIT ${limit}`;

/**
 * Fails the batch, as {@link EXPIRY_DIFFERS} says, unless the time of a live room has passed at `now` (epoch ms); with
 * `isExpired` false, if it has.
 */
export const requireExpiry = (
  { accountId }: Tenant,
  roomId: string,
  now: number,
  isExpired: boolean,
): Statement => statement`INSERT INTO rooms (account_id) SELECT NULL WHERE ${Number(isExpired)} <> EXISTS (
    SELECT 1 FROM rooms WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_LIVE} AND ends_at <= ${now})`;

/** The constraint that a batch with {@link requireExpiry} violates when it fails. */
export const EXPIRY_DIFFERS = "required:rooms.account_id";

const counterOf = (limit: CountedLimit): string => rooms[ROOM_COUNTERS[limit]].name;

/**
 * Fails the batch above a limit of the room, with `growth` more than it has: the count becomes NULL, as
 * {@link roomLimitViolated} says. Costs a room without that limit a row that is read.
 */
export const requireWithinLimit = (
  { accountId }: Tenant,
  roomId: string,
  limit: CountedLimit,
  growth: number,
): Statement => statement`UPDATE rooms SET ${sql.identifier(counterOf(limit))} = NULL
    WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_LIVE}
      AND ${sql.identifier(counterOf(limit))} + ${growth} > limits ->> ${limit}`;

export const roomLimitViolated = (limit: CountedLimit): string => `required:rooms.${counterOf(limit)}`;

/** Marks the room as watched until a time (epoch ms): the end of all tokens then reaches it, also with no user online. */
export const markWatched = ({ accountId }: Tenant, roomId: string, until: number): Statement<never> =>
  statement`UPDATE rooms SET watched_until = ${until}
    WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_LIVE}`;

/** Hides the room. Triggers stop counting its content, and its custom ID is free. */
export const markDeleted = (
  { accountId }: Tenant,
  roomId: string,
  now: number,
): Statement<{ id: string }> => statement`UPDATE rooms
    SET deleted_at = ${now}, custom_id = NULL, active_participants = 0, watched_until = 0, store_bytes = 0
    WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_LIVE} RETURNING id`;

/** The rooms with these IDs, in no order. */
export const selectRoomsById = ({ accountId }: Tenant, ids: readonly string[]): Statement<RoomRow> =>
  roomsById({ accountId, ids: JSON.stringify(ids) });
