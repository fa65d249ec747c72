/** The statements that write users, for their own commands. */
import { and, count, eq, or, type SQL, sql } from "drizzle-orm";
import {
  differsBy,
  type EventEntry,
  type Fragment,
  insertEvent,
  rowAsJson,
} from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  nextVersion,
  type Page,
  placeholdersOf,
  prepared,
  preparedByOrder,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, isUndated, isUnfiltered, ordering, pageValues } from "../../platform/d1/ordering.ts";
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

export const updateUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  changes: Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId" | "role">>,
): Statement<UserRow> =>
  statement(
    build
      .update(users)
      .set(changes)
      .where(whereIs(tenant, roomId, userId))
      .returning(USER_FIELDS),
  );

export const deleteUser = (tenant: Tenant, roomId: string, userId: string): Statement<{ id: string }> =>
  statement(
    build
      .delete(users)
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );

/** The room whose users are selected, by its ID or by its custom ID. */
export type RoomOfUsers = { readonly roomId: string } | { readonly roomCustomId: string };

const ofAccount = eq(users.accountId, sql.placeholder("accountId"));
const roomByCustomId = () =>
  build
    .select({ id: rooms.id })
    .from(rooms)
    .where(
      and(
        eq(rooms.accountId, sql.placeholder("accountId")),
        eq(rooms.customId, sql.placeholder("roomCustomId")),
      ),
    );
const roomIn = (filter: Filter): SQL =>
  filter.startsWith("custom")
    ? sql`(${roomByCustomId()})`
    : roomIdOf(sql.placeholder("accountId"), sql.placeholder("roomId"));

const inRoom = (filter: Filter) => and(ofAccount, sql`${users.roomId} = ${roomIn(filter)}`);

/** By the primary key: with a plus, SQLite does not walk through the room's list instead. */
const isHit = (filter: Filter) => sql`${users.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))
  AND +${users.accountId} = ${sql.placeholder("accountId")} AND +${users.roomId} = ${roomIn(filter)}`;

/** A page of users, with what narrows it beside its text and dates. */
export interface UserPage extends Page {
  /** What the index says of the search; null or absent when the users themselves are searched. */
  readonly hits?: SearchHits | null;
  readonly named?: NamedUsers | null;
}

type Filter = `${"room" | "custom room"}${"" | " few"}${"" | " others"}${"" | " searched"}`;

/** The IDs of the users among whom the page is, if they are few. */
const fewOf = ({ hits, named }: UserPage): string | null | undefined =>
  named && !named.isExcluding ? named.ids : hits?.ids;

const filterOf = (room: RoomOfUsers, page: UserPage): Filter => {
  const of = "roomId" in room ? "room" : "custom room";
  const isFew = typeof fewOf(page) === "string" && (page.search !== "" || page.named?.isExcluding === false);
  return `${of}${isFew ? " few" : ""}${page.named?.isExcluding ? " others" : ""}${page.search === "" ? "" : " searched"}`;
};

const valuesOf = ({ accountId }: Tenant, room: RoomOfUsers, page: UserPage) => ({
  ...{ accountId, ...room, ids: fewOf(page), others: page.named?.ids },
  ...pageValues(page),
});

const order = ordering({
  table: users,
  by: { created_at: "createdAt", name: "nameFolded" },
  time: "createdAt",
  id: "id",
});

/** Where a page of {@link selectUsers} ends that has this user last. */
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

const userPage = preparedByOrder((filter: Filter, ordered) =>
  build
    .select(USER_FIELDS)
    .from(users)
    .where(filtered(filter, order.where(ordered)))
    .orderBy(...order.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectUsers = (tenant: Tenant, room: RoomOfUsers, page: UserPage): Statement<UserRow> =>
  userPage(filterOf(room, page), order.shapeOf(page), valuesOf(tenant, room, page));

const userCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(users)
    .where(filtered(filter, order.dated)),
);

const roomUserCount = preparedByShape((filter: "room" | "custom room") =>
  build
    .select({ total: sql<number>`${rooms.userCount}`.as("total") })
    .from(rooms)
    .where(and(eq(rooms.accountId, sql.placeholder("accountId")), sql`${rooms.id} = ${roomIn(filter)}`)),
);

/** Counts the users on all pages of {@link selectUsers}: at any number of them at once, unless something is filtered. */
export const countUsers = (tenant: Tenant, room: RoomOfUsers, page: UserPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const of = "roomId" in room ? "room" : "custom room";
    const values = valuesOf(tenant, room, page);
    if (isUnfiltered(page) && page.named == null) return roomUserCount(of, values);
    if (isUnfiltered(page) && page.named?.isExcluding) {
      const all = roomUserCount(of, values);
      const named = userCount(`${of} few`, { ...values, ids: page.named.ids });
      return {
        sql: `SELECT (${all.sql}) - (${named.sql}) AS total`,
        params: [...all.params, ...named.params],
      };
    }
    if (page.hits?.ids === null && isUndated(page) && page.named == null) return countHits(page.hits);
    return userCount(filterOf(room, page), values);
  });

export interface NamedUsers {
  /** A JSON array of their IDs. */
  readonly ids: string;
  /** Whether all other users of the room are meant. */
  readonly isExcluding: boolean;
}

/** The fields that an update writes. */
type UserChanges = Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId" | "role">>;

const ALWAYS: Fragment = { sql: "TRUE", params: [] };
const ROOM = rowAsJson(rooms, "rooms");
const USER = rowAsJson(users, "users");

/**
 * Writes the event and returns it, if the user exists. Runs after the statement that
 * creates the user, and before the one that updates or deletes it. An update passes its `changes`: the event shows
 * the user with them, and is not written if they change nothing. A deletion passes what the event is to show instead of
 * the user's own fields.
 */
export function insertUserEvent(
  tenant: Tenant,
  entry: EventEntry,
  userId: string,
  changes: UserChanges | null = null,
  shown: UserChanges | null = changes,
): Statement<OutboxEventRow> {
  const condition = changes === null ? ALWAYS : differsBy(users, "users", changes);
  return insertEvent(tenant, entry, {
    from: "users JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id",
    where: {
      sql: `users.account_id = ? AND users.room_id = ? AND users.id = ? AND (${condition.sql})`,
      params: [tenant.accountId, entry.roomId, userId, ...condition.params],
    },
    room: ROOM,
    subject: shown === null ? USER : rowAsJson(users, "users", shown),
  });
}

/** Begins a new token epoch of a user. Returns its ID if it exists. */
export const endTokensOfUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  now: number,
): Statement<{ id: string }> =>
  statement(
    build
      .update(users)
      .set({ tokenEpoch: nextVersion(users.tokenEpoch, now) })
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );
