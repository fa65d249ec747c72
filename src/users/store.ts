/** The statements about users that only their own commands and queries use. */
import { and, count, eq, or, type SQL, sql } from "drizzle-orm";
import {
  build,
  type Page,
  placeholdersOf,
  prepared,
  preparedByOrder,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import { countOnce, isUndated, isUnfiltered, ordering, pageValues } from "../platform/ordering.ts";
import { rooms } from "../rooms/table.ts";
import { countHits, type SearchHits } from "../search/shared-store.ts";
import { USER_FIELDS } from "./shared-store.ts";
import { type StoredUser, type UserRow, users } from "./table.ts";

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
  filter.startsWith("custom") ? sql`(${roomByCustomId()})` : sql`${sql.placeholder("roomId")}`;

const inRoom = (filter: Filter) => and(ofAccount, sql`${users.roomId} = ${roomIn(filter)}`);

/** By the primary key: with a plus, SQLite does not walk through the room's list instead. */
const isHit = (filter: Filter) => sql`${users.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))
  AND +${users.accountId} = ${sql.placeholder("accountId")} AND +${users.roomId} = ${roomIn(filter)}`;

/** A page of users, with what the index says of its search; null or absent when the users themselves are searched. */
export interface UserPage extends Page {
  readonly hits?: SearchHits | null;
}

type Filter = `${"room" | "custom room"}${"" | " searched" | " few searched"}`;
const filterOf = (room: RoomOfUsers, { search, hits }: UserPage): Filter => {
  const of = "roomId" in room ? "room" : "custom room";
  if (search === "") return of;
  return typeof hits?.ids === "string" ? `${of} few searched` : `${of} searched`;
};

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

export const selectUsers = ({ accountId }: Tenant, room: RoomOfUsers, page: UserPage): Statement<UserRow> =>
  userPage(filterOf(room, page), order.shapeOf(page), {
    accountId,
    ...room,
    ids: page.hits?.ids,
    ...pageValues(page),
  });

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
    .where(
      and(
        eq(rooms.accountId, sql.placeholder("accountId")),
        filter === "room"
          ? eq(rooms.id, sql.placeholder("roomId"))
          : eq(rooms.customId, sql.placeholder("roomCustomId")),
      ),
    ),
);

/** Counts the users on all pages of {@link selectUsers}: at any number of them at once, unless something is filtered. */
export const countUsers = (tenant: Tenant, room: RoomOfUsers, page: UserPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const { accountId } = tenant;
    if (isUnfiltered(page)) {
      return roomUserCount("roomId" in room ? "room" : "custom room", { accountId, ...room });
    }
    if (page.hits?.ids === null && isUndated(page)) return countHits(page.hits);
    const values = { accountId, ...room, ids: page.hits?.ids, ...pageValues(page) };
    return userCount(filterOf(room, page), values);
  });

const insertion = prepared(() => build.insert(users).values(placeholdersOf(users)).returning(USER_FIELDS));

export const insertUser = (_: Tenant, row: StoredUser): Statement<UserRow> => insertion(row);

const whereIs = ({ accountId }: Tenant, roomId: string, userId: string) =>
  and(eq(users.accountId, accountId), eq(users.roomId, roomId), eq(users.id, userId));

export const updateUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  changes: Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId">>,
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
