/** The statements about rooms that only their own commands and queries use. */
import { and, count, eq, type SQL, sql } from "drizzle-orm";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { countOnce, isUndated, isUnfiltered, ordering, pageValues } from "../../platform/d1/ordering.ts";
import {
  placeholdersOf,
  prepared,
  preparedByOrder,
  preparedByShape,
} from "../../platform/d1/prepared-statement.ts";
import { countUsed } from "../quotas/statements.ts";
import { countHits, type SearchHits } from "../search/statements.ts";
import { IS_LIVE, type RoomRow, rooms } from "./table.ts";

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));
const isLive = sql.raw(IS_LIVE);

/** A page of rooms: of all, or of those in one state, or with or without users online. */
export interface RoomPage extends Page {
  readonly state?: RoomRow["state"] | undefined;
  readonly isOnline?: boolean | undefined;
  /** What the index says of the search; null or absent when the rooms themselves are searched. */
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

/** The conditions of a page, joined by spaces. */
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

/** Where a page of {@link selectRooms} ends that has this room last. */
export const positionOf = order.positionOf;

/** By the primary key: a condition on the account alone would have SQLite walk through the list. */
const isHit = sql`(${rooms.accountId}, ${rooms.id}) IN (
  SELECT ${sql.placeholder("accountId")}, value FROM json_each(${sql.placeholder("ids")}))`;

const filtered = (filter: string, placed: SQL) =>
  and(
    filter.startsWith("few") ? isHit : ofAccount,
    isLive,
    placed,
    ...Object.entries(CONDITIONS).flatMap(([name, condition]) =>
      filter.split(" ").includes(name) ? [condition] : [],
    ),
  );

const roomPage = preparedByOrder((filter: string, ordered) =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(filtered(filter, order.where(ordered)))
    .orderBy(...order.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectRooms = ({ accountId }: Tenant, page: RoomPage): Statement<RoomRow> =>
  roomPage(filterOf(page), order.shapeOf(page), { accountId, ids: page.hits?.ids, ...pageValues(page) });

const roomCount = preparedByShape((filter: string) =>
  build
    .select({ total: count().as("total") })
    .from(rooms)
    .where(filtered(filter, order.dated)),
);

/** The filters that most rooms match, and those that all others do, which an index has. */
const OTHERS = new Map([
  ["active", "closed"],
  ["offline", "online"],
]);

/**
 * Counts the rooms on all pages of {@link selectRooms}. A search counts its hits in the index; dates count what they
 * select; without them, the rooms that are closed or have users online are counted at most.
 */
export const countRooms = (tenant: Tenant, page: RoomPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const filter = filterOf(page);
    if (filter === "" && isUnfiltered(page)) return countUsed(tenant, "rooms");
    const others = isUnfiltered(page) ? OTHERS.get(filter) : undefined;
    if (others !== undefined) {
      const all = countUsed(tenant, "rooms");
      const other = roomCount(others, { accountId: tenant.accountId, ...pageValues(page) });
      return {
        sql: `SELECT (${all.sql}) - (${other.sql}) AS total`,
        params: [...all.params, ...other.params],
      };
    }
    if (filter === "search" && isUndated(page) && page.hits) return countHits(page.hits);
    const { accountId } = tenant;
    return roomCount(filter, { accountId, ids: page.hits?.ids, ...pageValues(page) });
  });

const insertion = prepared(() => build.insert(rooms).values(placeholdersOf(rooms)));

export const insertRoom = (_: Tenant, row: RoomRow): Statement => insertion(row);

export const whereIs = ({ accountId }: Tenant, roomId: string) =>
  and(eq(rooms.accountId, accountId), eq(rooms.id, roomId), isLive);

export const updateRoom = (
  tenant: Tenant,
  roomId: string,
  changes: Partial<Pick<RoomRow, "name" | "nameFolded" | "customId" | "state">>,
): Statement<RoomRow> =>
  statement(build.update(rooms).set(changes).where(whereIs(tenant, roomId)).returning(columnsOf(rooms)));
