/** The statements about rooms that only their own commands and queries use. */

import type { Permission } from "@atrium/contract/resources/permissions.ts";
import type { RoomLimitsInput } from "@atrium/contract/resources/room-limits.ts";
import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import type { RoomUpdate } from "@atrium/contract/rest/rooms.ts";
import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import { differsBy, type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  FENCED,
  insertionInto,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, countWithout, isUndated, isUnfiltered, ordering } from "../../platform/d1/ordering.ts";
import { type DeletingFile, markSomeFilesForDeletion } from "../files/storage/statements.ts";
import { countUsed } from "../quotas/statements.ts";
import { countHits, type SearchHits } from "../search/statements.ts";
import { IS_LIVE, type RoomRow, rooms, STILL_ACTIVE } from "./table.ts";

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));

/** A page of rooms: of all, or of those in one state, or with or without users online. */
export interface RoomPage extends Page {
  readonly state?: RoomRow["state"] | undefined;
  readonly isOnline?: boolean | undefined;
  readonly hits?: SearchHits | null;
}

// Literals, not parameters: SQLite uses a partial index only when it sees that the query implies its condition.
const CONDITIONS = {
  search: sql`instr(${rooms.nameFolded}, ${sql.placeholder("search")})`,
  active: sql`${rooms.state} = 'active'`,
  closed: sql`${rooms.state} = 'closed'`,
  online: sql`${rooms.activeParticipants} > 0`,
  offline: sql`${rooms.activeParticipants} = 0`,
};
type Condition = keyof typeof CONDITIONS | "few";

function filterOf({ search, state, isOnline, hits }: RoomPage): string {
  const conditions: (Condition | false)[] = [
    search !== "" && typeof hits?.ids === "string" && "few",
    search !== "" && "search",
    state ?? false,
    isOnline !== undefined && (isOnline ? "online" : "offline"),
  ];
  return conditions.filter((condition) => condition !== false).join(" ");
}

const order = ordering({
  table: rooms,
  by: { created_at: "createdAt", name: "nameFolded", last_active_at: "lastActiveAt" },
  time: "createdAt",
  id: "id",
});

export const positionOf = order.positionOf;

/** By the primary key: a condition on the account alone would have SQLite walk through the list. */
const isHit = sql`(${rooms.accountId}, ${rooms.id}) IN (
    SELECT ${sql.placeholder("accountId")}, value FROM json_each(${sql.placeholder("ids")}))`;

const filtered = (filter: string, placed: SQL) =>
  and(
    filter.startsWith("few") ? isHit : ofAccount,
    IS_LIVE,
    placed,
    ...Object.entries(CONDITIONS).flatMap(([name, condition]) =>
      filter.split(" ").includes(name) ? [condition] : [],
    ),
  );

const roomPage = order.pages(columnsOf(rooms), filtered);

export const selectRooms = ({ accountId }: Tenant, page: RoomPage): Statement<RoomRow> =>
  roomPage(filterOf(page), page, { accountId, ids: page.hits?.ids });

const roomCount = order.counts(filtered);

/** The filters that most rooms match, and those that all others do, which an index has. */
const OTHERS = new Map([
  ["active", "closed"],
  ["offline", "online"],
]);

/** A search counts its hits in the index. Without dates, at most closed or occupied rooms are counted. */
export const countRooms = (tenant: Tenant, page: RoomPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const filter = filterOf(page);
    if (filter === "" && isUnfiltered(page)) return countUsed(tenant, "rooms");
    const others = isUnfiltered(page) ? OTHERS.get(filter) : undefined;
    if (others !== undefined)
      return countWithout(
        countUsed(tenant, "rooms"),
        roomCount(others, page, { accountId: tenant.accountId }),
      );
    if (filter === "search" && isUndated(page) && page.hits) return countHits(page.hits);
    return roomCount(filter, page, { accountId: tenant.accountId, ids: page.hits?.ids });
  });

export const insertRoom = insertionInto(rooms);

/** Gives a new room its default access: these permissions, or with null the organization's default of new rooms. */
export const insertDefaultAccess = (
  { accountId }: Tenant,
  roomId: string,
  permissions: readonly Permission[] | null,
): Statement => statement`INSERT INTO room_access (account_id, room_id, kind, subject_id, permissions)
    SELECT ${accountId}, ${roomId}, 'default', '', permissions FROM (
      SELECT ${permissions && JSON.stringify(permissions)} AS permissions UNION ALL SELECT permissions
        FROM access_defaults WHERE account_id = ${accountId})
    WHERE permissions IS NOT NULL LIMIT 1`;

const whereIs = ({ accountId }: Tenant, roomId: string) =>
  and(eq(rooms.accountId, accountId), eq(rooms.id, roomId), IS_LIVE);

/** Changes of a room's row: values, and expressions of the row as it is. */
export type RoomChanges = Omit<RoomUpdate, "limits"> & {
  readonly nameFolded?: string;
  readonly limits?: SQL;
};

/**
 * The limits with these changes, of which null removes one: several updates at once keep each other's. As text, which a row
 * as JSON would otherwise hold as an object.
 */
export const mergedLimits = (changes: RoomLimitsInput): SQL =>
  sql`nullif(json_patch(coalesce(${rooms.limits}, '{}'), ${JSON.stringify(changes)}) || '', '{}')`;

export const updateRoom = (tenant: Tenant, roomId: string, changes: RoomChanges): Statement<RoomRow> =>
  statement(build.update(rooms).set(changes).where(whereIs(tenant, roomId)).returning(columnsOf(rooms)));

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

/** Writes a copy of a room's live stats, unless the row holds a newer one. Returns the organization's token epoch. */
export const updateStats = (
  tenant: Tenant,
  roomId: string,
  stats: ProjectedStats,
  statsVersion: number,
): Statement<{ accountTokenEpoch: number }> => {
  const { at: _, ...copied } = stats;
  return statement(
    build
      .update(rooms)
      .set({ ...copied, lastActiveAt: lastActiveAt(stats), statsVersion })
      .where(and(whereIs(tenant, roomId), lte(rooms.statsVersion, statsVersion)))
      .returning({
        accountTokenEpoch:
          sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = rooms.account_id)`.as(
            "accountTokenEpoch",
          ),
      }),
  );
};

/** Removes up to `limit` users and entries of access of a deleted room and hides as many files, which are returned; in the end, the room's row. */
export const deleteSome = (
  tenant: Tenant,
  roomId: string,
  limit: number,
): readonly [
  Statement<{ id: string }>,
  Statement<DeletingFile>,
  Statement<{ deleted: number }>,
  Statement,
] => [
  statement`DELETE FROM users WHERE id IN (
        SELECT id FROM users WHERE account_id = ${tenant.accountId} AND room_id = ${roomId} AND EXISTS (
          SELECT 1 FROM rooms WHERE account_id = ${tenant.accountId} AND id = ${roomId} AND deleted_at IS NOT NULL)
            LIMIT ${limit})
      RETURNING id`,
  markSomeFilesForDeletion(tenant, roomId, limit),
  statement`DELETE FROM room_access WHERE rowid IN (
        SELECT room_access.rowid FROM room_access JOIN rooms ON rooms.account_id = room_access.account_id
          AND rooms.id = room_access.room_id AND rooms.deleted_at IS NOT NULL
        WHERE room_access.account_id = ${tenant.accountId} AND room_access.room_id = ${roomId} LIMIT ${limit})
      RETURNING 1 AS deleted`,
  statement`DELETE FROM rooms WHERE account_id = ${tenant.accountId} AND id = ${roomId} AND deleted_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id)
      AND NOT EXISTS (SELECT 1 FROM room_access WHERE account_id = rooms.account_id AND room_id = rooms.id)
      AND NOT EXISTS (SELECT 1 FROM room_links WHERE account_id = rooms.account_id AND room_id = rooms.id)
      AND NOT EXISTS (
        SELECT 1 FROM files WHERE account_id = rooms.account_id AND room_id = rooms.id AND state = 'stored')`,
];

/** The rooms that were deleted and of which something can be removed, the longest deleted first: some wait for their links. */
export const selectDeletedRooms = (limit: number): Statement<{ accountId: string; id: string }> =>
  statement`SELECT account_id AS accountId, id FROM rooms
      WHERE deleted_at IS NOT NULL AND account_id NOT IN ${FENCED} AND (
        NOT EXISTS (SELECT 1 FROM room_links WHERE account_id = rooms.account_id AND room_id = rooms.id)
        OR EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id)
        OR EXISTS (SELECT 1 FROM room_access WHERE account_id = rooms.account_id AND room_id = rooms.id)
        OR EXISTS (
          SELECT 1 FROM files WHERE account_id = rooms.account_id AND room_id = rooms.id AND state = 'stored'))
      ORDER BY deleted_at LIMIT ${limit}`;

/** Rooms whose time has passed at `now` (epoch ms), the earliest first. */
export const selectExpiredRooms = (
  now: number,
  limit: number,
): Statement<ExpiredRoom> => statement`SELECT account_id AS accountId, id FROM rooms
    WHERE ${IS_LIVE} AND ends_at <= ${now} AND account_id NOT IN ${FENCED} ORDER BY ends_at LIMIT ${limit}`;

export interface ExpiredRoom {
  readonly accountId: string;
  readonly id: string;
}

const ROOM = rowAsJson(rooms, "rooms");

const insert = (
  tenant: Tenant,
  entry: EventEntry,
  condition: SQL,
  changes: RoomChanges | null = null,
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: sql`rooms`,
    where: sql`rooms.account_id = ${tenant.accountId} AND rooms.id = ${entry.roomId} AND (${condition})`,
    room: changes === null ? ROOM : rowAsJson(rooms, "rooms", changes),
  });

/** `room.created`, after the statement that creates the room, or `room.deleted`, before the one that deletes it. */
export const insertRoomEvent = (tenant: Tenant, entry: EventEntry): Statement<OutboxEventRow> =>
  insert(tenant, entry, sql`TRUE`);

/** `room.updated`, before the update: if it changes the name or the custom ID, or reopens the room. */
export function insertRoomUpdated(
  tenant: Tenant,
  entry: EventEntry,
  changes: RoomChanges,
): Statement<OutboxEventRow> {
  const { state, ...others } = changes;
  const reported = state === "active" ? changes : others;
  return insert(tenant, entry, differsBy(rooms, "rooms", reported), changes);
}

/** `room.closed`, before the update: if it closes the room. */
export const insertRoomClosed = (
  tenant: Tenant,
  entry: EventEntry,
  changes: RoomChanges,
): Statement<OutboxEventRow> =>
  insert(tenant, entry, sql`${changes.state ?? ""} = 'closed' AND rooms.state <> 'closed'`, changes);
