/** The only SQL about rooms. */
import { and, count, eq, isNotNull, isNull, lte, sql } from "drizzle-orm";
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
import type { RoomStats } from "./schema.ts";
import { type RoomRow, rooms } from "./table.ts";

/** Finds a room by its id, or by the organization's own one. */
export type RoomKey = { readonly id: string } | { readonly customId: string };

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));
const byId = and(ofAccount, eq(rooms.id, sql.placeholder("id")));
const byCustomId = and(ofAccount, eq(rooms.customId, sql.placeholder("customId")));

const roomByKey = preparedByShape((shape: "id" | "customId") =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(shape === "id" ? byId : byCustomId)
    .limit(1),
);

export const selectRoom = ({ accountId }: Tenant, key: RoomKey): Statement<RoomRow> =>
  roomByKey("id" in key ? "id" : "customId", { accountId, ...key });

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

const listeningRoom = prepared(() =>
  build
    .select({ id: rooms.id })
    .from(rooms)
    .where(and(byId, isNotNull(rooms.firstJoinAt))),
);

/** Selects a row when the room has been joined ever: there may be somebody to hear of what changes. */
export const selectJoinedRoom = ({ accountId }: Tenant, roomId: string): Statement<{ id: string }> =>
  listeningRoom({ accountId, id: roomId });

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

const userCreationCount = prepared(() =>
  build
    .update(rooms)
    .set({ totalUsersCreated: sql`${rooms.totalUsersCreated} + 1` })
    .where(byId),
);

export const countUserCreation = ({ accountId }: Tenant, roomId: string): Statement =>
  userCreationCount({ accountId, id: roomId });

/** Notes when the room was first joined. */
export const updateFirstJoin = (tenant: Tenant, roomId: string, now: number): Statement =>
  statement(
    build
      .update(rooms)
      .set({ firstJoinAt: now })
      .where(and(whereIs(tenant, roomId), isNull(rooms.firstJoinAt))),
  );

/** Copies a room object's figures, unless a newer copy is there already. */
export const updateStats = (
  tenant: Tenant,
  roomId: string,
  figures: RoomStats,
  figuresVersion: number,
): Statement =>
  statement(
    build
      .update(rooms)
      .set({ ...figures, figuresVersion })
      .where(and(whereIs(tenant, roomId), lte(rooms.figuresVersion, figuresVersion))),
  );
