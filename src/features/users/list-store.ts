/** The statements that list users. */
import { and, count, eq, or, type SQL, sql } from "drizzle-orm";
import { build, type Page, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { countOnce, isUndated, isUnfiltered, ordering, pageValues } from "../../platform/d1/ordering.ts";
import { preparedByOrder, preparedByShape } from "../../platform/d1/prepared-statement.ts";
import { roomIdOf } from "../rooms/shared-store.ts";
import { rooms } from "../rooms/table.ts";
import { countHits, type SearchHits } from "../search/shared-store.ts";
import type { NamedUsers } from "./named-users.ts";
import { USER_FIELDS } from "./shared-store.ts";
import { type UserRow, users } from "./table.ts";

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
