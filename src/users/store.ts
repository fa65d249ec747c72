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
import { countOnce, isUnfiltered, ordering, pageValues } from "../platform/ordering.ts";
import { rooms } from "../rooms/table.ts";
import { USER_FIELDS } from "./shared-store.ts";
import { type StoredUser, type UserRow, users } from "./table.ts";

/** The room whose users are selected, by its ID or by its custom ID. */
export type RoomOfUsers = { readonly roomId: string } | { readonly roomCustomId: string };

const ofAccount = eq(users.accountId, sql.placeholder("accountId"));
const inRoom = and(ofAccount, eq(users.roomId, sql.placeholder("roomId")));
const inCustomRoom = () =>
  and(
    ofAccount,
    eq(
      users.roomId,
      build
        .select({ id: rooms.id })
        .from(rooms)
        .where(
          and(
            eq(rooms.accountId, sql.placeholder("accountId")),
            eq(rooms.customId, sql.placeholder("roomCustomId")),
          ),
        ),
    ),
  );

type Filter = "room" | "room searched" | "custom room" | "custom room searched";
const filterOf = (room: RoomOfUsers, page: Page): Filter => {
  if ("roomId" in room) return page.search === "" ? "room" : "room searched";
  return page.search === "" ? "custom room" : "custom room searched";
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
    filter.startsWith("custom") ? inCustomRoom() : inRoom,
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

export const selectUsers = ({ accountId }: Tenant, room: RoomOfUsers, page: Page): Statement<UserRow> =>
  userPage(filterOf(room, page), order.shapeOf(page), { accountId, ...room, ...pageValues(page) });

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
export const countUsers = (
  { accountId }: Tenant,
  room: RoomOfUsers,
  page: Page,
): Statement<{ total: number }> =>
  countOnce(page, () =>
    isUnfiltered(page)
      ? roomUserCount("roomId" in room ? "room" : "custom room", { accountId, ...room })
      : userCount(filterOf(room, page), { accountId, ...room, ...pageValues(page) }),
  );

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
