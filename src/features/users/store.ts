/** The statements that list and write users, and that write their events in the batch of the change. */

import type { UserRecord } from "@atrium/contract/resources/user.ts";
import type { UserUpdate } from "@atrium/contract/rest/users.ts";
import { and, eq, or, type SQL, sql } from "drizzle-orm";
import { differsBy, type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  nextVersion,
  type Page,
  placeholdersOf,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, countWithout, isUndated, isUnfiltered, ordering } from "../../platform/d1/ordering.ts";
import { roomIdOf } from "../rooms/statements.ts";
import { rooms } from "../rooms/table.ts";
import { countHits, type SearchHits } from "../search/statements.ts";
import { USER_FIELDS } from "./statements.ts";
import { type StoredUser, type UserRow, users } from "./table.ts";

const insertion = prepared(() => {
  const roomId = roomIdOf(sql.placeholder("accountId"), sql.placeholder("roomId"));
  return build
    .insert(users)
    .values({ ...placeholdersOf(users), roomId })
    .returning(USER_FIELDS);
});

/** Violates `required:users.room_id` when there is no such room. */
export const insertUser = (_: Tenant, row: StoredUser): Statement<UserRow> => insertion(row);

const whereIs = ({ accountId }: Tenant, roomId: string, userId: string) =>
  and(
    eq(users.accountId, accountId),
    sql`${users.roomId} = ${roomIdOf(accountId, roomId)}`,
    eq(users.id, userId),
  );

type UserChanges = UserUpdate & { readonly nameFolded?: string };

export const updateUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  changes: UserChanges,
): Statement<UserRow> =>
  statement(
    build
      .update(users)
      .set(changes)
      .where(whereIs(tenant, roomId, userId))
      .returning(USER_FIELDS),
  );

export const deleteUser = (tenant: Tenant, roomId: string, userId: string) =>
  statement(
    build
      .delete(users)
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );

/** Begins a new token epoch of a user. Returns its ID if it exists. */
export const endTokensOfUser = (tenant: Tenant, roomId: string, userId: string, now: number) =>
  statement(
    build
      .update(users)
      .set({ tokenEpoch: nextVersion(users.tokenEpoch, now) })
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );

/**
 * Writes the event and returns it, if the user exists. Runs after the statement that creates the user, and before the one
 * that updates or deletes it. An event with `changes` shows the user with them, and is not written if they change
 * nothing. A deletion may pass `shown` in place of the user's own fields.
 */
export function insertUserEvent(
  tenant: Tenant,
  entry: EventEntry,
  userId: string,
  changes: UserChanges | null = null,
  shown: UserChanges | null = changes,
): Statement<OutboxEventRow> {
  const condition = changes === null ? sql`TRUE` : differsBy(users, "users", changes);
  return insertEvent(tenant, entry, {
    from: sql`users JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id`,
    where: sql`users.account_id = ${tenant.accountId} AND users.room_id = ${entry.roomId} AND users.id = ${userId}
        AND (${condition})`,
    room: rowAsJson(rooms, "rooms"),
    subject: rowAsJson(users, "users", shown ?? {}),
  });
}

export type RoomOfUsers = { readonly roomId: string } | { readonly roomCustomId: string };

/** The users that a room's object has named for a filter. */
export interface NamedUsers {
  /** A JSON array of their IDs. */
  readonly ids: string;
  /** Whether all other users of the room are meant. */
  readonly isExcluding: boolean;
}

interface UserPage extends Page {
  /** The result of the search index; null or absent when the users themselves are searched. */
  readonly hits?: SearchHits | null;
  readonly named?: NamedUsers | null;
}

/** The shape of a list: its room's key, and its filters. */
type Filter = `${"room" | "custom room"}${"" | " few"}${"" | " others"}${"" | " searched"}`;

const accountId = sql.placeholder("accountId");
const roomByCustomId = () =>
  build
    .select({ id: rooms.id })
    .from(rooms)
    .where(and(eq(rooms.accountId, accountId), eq(rooms.customId, sql.placeholder("roomCustomId"))));
const roomIn = (filter: Filter): SQL =>
  filter.startsWith("custom") ? sql`(${roomByCustomId()})` : roomIdOf(accountId, sql.placeholder("roomId"));

const inRoom = (filter: Filter) =>
  and(eq(users.accountId, accountId), sql`${users.roomId} = ${roomIn(filter)}`);

/** By the primary key: with a plus, SQLite does not walk through the room's list instead. */
const isHit = (filter: Filter) =>
  sql`${users.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))
      AND +${users.accountId} = ${accountId} AND +${users.roomId} = ${roomIn(filter)}`;

/** The IDs of the users among whom the page is, if they are few. */
const fewOf = ({ hits, named }: UserPage): string | null | undefined =>
  named && !named.isExcluding ? named.ids : hits?.ids;

const roomOf = (room: RoomOfUsers) => ("roomId" in room ? "room" : "custom room");

const filterOf = (room: RoomOfUsers, page: UserPage): Filter => {
  const isFew = typeof fewOf(page) === "string" && (page.search !== "" || page.named?.isExcluding === false);
  return `${roomOf(room)}${isFew ? " few" : ""}${page.named?.isExcluding ? " others" : ""}${page.search === "" ? "" : " searched"}`;
};

const valuesOf = ({ accountId }: Tenant, room: RoomOfUsers, page: UserPage) => ({
  ...room,
  accountId,
  ids: fewOf(page),
  others: page.named?.ids,
});

const order = ordering({
  table: users,
  by: { created_at: "createdAt", name: "nameFolded" },
  time: "createdAt",
  id: "id",
});

export const positionOf = order.positionOf;

const filtered = (filter: Filter, placed: SQL) =>
  and(
    filter.includes("few") ? isHit(filter) : inRoom(filter),
    placed,
    filter.includes("others")
      ? sql`${users.id} NOT IN (SELECT value FROM json_each(${sql.placeholder("others")}))`
      : undefined,
    filter.endsWith("searched")
      ? or(
          sql`instr(${users.nameFolded}, ${sql.placeholder("search")})`,
          // Folding the search has put it into upper case, and IDs are hexadecimal.
          sql`instr(upper(${users.id}), ${sql.placeholder("search")}) = 1`,
        )
      : undefined,
  );

const userPage = order.pages(USER_FIELDS, filtered);

export const selectUsers = (tenant: Tenant, room: RoomOfUsers, page: UserPage): Statement<UserRow> =>
  userPage(filterOf(room, page), page, valuesOf(tenant, room, page));

const userCount = order.counts(filtered);

const roomUserCount = preparedByShape((filter: "room" | "custom room") =>
  build
    .select({ total: sql<number>`${rooms.userCount}`.as("total") })
    .from(rooms)
    .where(and(eq(rooms.accountId, accountId), sql`${rooms.id} = ${roomIn(filter)}`)),
);

/** Counts the users on all pages of {@link selectUsers}: from the room's counter, unless something is filtered. */
export const countUsers = (tenant: Tenant, room: RoomOfUsers, page: UserPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const of = roomOf(room);
    const values = valuesOf(tenant, room, page);
    const { named } = page;
    if (isUnfiltered(page) && named == null) return roomUserCount(of, values);
    if (isUnfiltered(page) && named?.isExcluding)
      return countWithout(
        roomUserCount(of, values),
        userCount(`${of} few`, page, { ...values, ids: named.ids }),
      );
    if (page.hits?.ids === null && isUndated(page) && named == null) return countHits(page.hits);
    return userCount(filterOf(room, page), page, values);
  });

interface ReadUser extends UserRecord {
  readonly nameFolded: string;
  readonly roomName: string;
  /** 1 for the last one that was read, when there may be more behind it, whether or not it matches. */
  readonly isEnd: 0 | 1;
}

/**
 * The matches among the next `atOnce` users of the organization by room, name and ID; one more than `limit` at most. A room
 * without users counts as one. Of the rooms in `hits`, only the users that it names are read. The last one may have no ID.
 */
export const selectMatches = (
  { accountId }: Tenant,
  { search, limit, after }: Page,
  hits: readonly object[],
  atOnce: number,
): Statement<ReadUser> => {
  const [roomId = "", userId = ""] = after?.id.split("/") ?? [];
  const key = String(after?.key ?? "");
  return statement`WITH indexed AS (SELECT value ->> 'roomId' AS roomId, value ->> 'ids' AS ids
      FROM json_each(${JSON.stringify(hits)})),
      read AS (
        SELECT rooms.id AS roomId, users.name_folded AS nameFolded, users.id AS userId
        FROM rooms LEFT JOIN users ON users.account_id = rooms.account_id AND users.room_id = rooms.id
          AND users.name_folded >= iif(rooms.id = ${roomId}, ${key}, '')
        WHERE rooms.account_id = ${accountId} AND rooms.id >= ${roomId} AND rooms.deleted_at IS NULL
          AND rooms.id NOT IN (SELECT roomId FROM indexed)
          AND (rooms.id > ${roomId} OR (users.name_folded, users.id) > (${key}, ${userId}))
        ORDER BY rooms.id, users.name_folded, users.id LIMIT ${atOnce}),
      last AS (SELECT * FROM read LIMIT 1 OFFSET ${atOnce} - 1),
      found AS (
        SELECT * FROM read WHERE instr(nameFolded, ${search}) OR instr(upper(userId), ${search}) = 1
        UNION ALL
        SELECT room_id, name_folded, id FROM users
        WHERE id IN (SELECT hit.value FROM indexed, json_each(indexed.ids) AS hit) AND account_id = ${accountId}
          AND (room_id, name_folded, id) > (${roomId}, ${key}, ${userId})
          AND room_id < coalesce((SELECT roomId FROM last), '~')),
      page AS (
        SELECT *, 0 AS isEnd FROM (SELECT * FROM found ORDER BY roomId, nameFolded, userId LIMIT ${limit} + 1)
        UNION ALL SELECT *, 1 FROM last)
      SELECT page.roomId, coalesce(page.nameFolded, '') AS nameFolded, coalesce(page.userId, '') AS id, isEnd,
        users.account_id AS accountId, users.name, users.profile_picture AS profilePicture,
        users.custom_id AS customId, users.kind, users.role, users.created_at AS createdAt, rooms.name AS roomName
      FROM page LEFT JOIN users ON users.id = page.userId
        LEFT JOIN rooms ON rooms.account_id = ${accountId} AND rooms.id = page.roomId
      ORDER BY isEnd, page.roomId, page.nameFolded, page.userId`;
};
