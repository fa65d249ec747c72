/** The statements about rooms that only their own commands and queries use. */
import { and, count, eq, lte, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  placeholdersOf,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import type { RoomStats } from "../realtime/port/snapshots.ts";
import { type RoomRow, rooms } from "./table.ts";

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));

type Filter = "all" | "searched";
const filterOf = (page: Page): Filter => (page.search === "" ? "all" : "searched");

const filtered = (filter: Filter) =>
  and(
    ofAccount,
    sql`${rooms.createdAt} BETWEEN ${sql.placeholder("from")} AND ${sql.placeholder("to")}`,
    filter === "all" ? undefined : sql`instr(${rooms.nameFolded}, ${sql.placeholder("search")})`,
  );

const roomPage = preparedByShape((filter: Filter) =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(filtered(filter))
    .orderBy(sql`${rooms.createdAt} DESC`, sql`${rooms.id} DESC`)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectRooms = ({ accountId }: Tenant, page: Page): Statement<RoomRow> =>
  roomPage(filterOf(page), { accountId, ...page });

const roomCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(rooms)
    .where(filtered(filter)),
);

export const countRooms = ({ accountId }: Tenant, page: Page): Statement<{ total: number }> =>
  roomCount(filterOf(page), { accountId, ...page });

const insertion = prepared(() => build.insert(rooms).values(placeholdersOf(rooms)));

export const insertRoom = (_: Tenant, row: RoomRow): Statement => insertion(row);

const whereIs = ({ accountId }: Tenant, roomId: string) =>
  and(eq(rooms.accountId, accountId), eq(rooms.id, roomId));

export const updateRoom = (
  tenant: Tenant,
  roomId: string,
  changes: Partial<Pick<RoomRow, "name" | "nameFolded" | "customId" | "state">>,
): Statement<RoomRow> =>
  statement(build.update(rooms).set(changes).where(whereIs(tenant, roomId)).returning(columnsOf(rooms)));

export const deleteRoom = (tenant: Tenant, roomId: string): Statement<{ id: string }> =>
  statement(build.delete(rooms).where(whereIs(tenant, roomId)).returning({ id: rooms.id }));

/** Writes a copy of a room's live stats, unless the row holds a newer one. Returns the organization's token epoch. */
export const updateStats = (
  tenant: Tenant,
  roomId: string,
  stats: RoomStats,
  statsVersion: number,
): Statement<{ accountTokenEpoch: number }> =>
  statement(
    build
      .update(rooms)
      .set({ ...stats, statsVersion })
      .where(and(whereIs(tenant, roomId), lte(rooms.statsVersion, statsVersion)))
      .returning({
        accountTokenEpoch:
          sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = rooms.account_id)`.as(
            "accountTokenEpoch",
          ),
      }),
  );
