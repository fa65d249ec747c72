/** The only SQL about rooms. Select functions return statements too, so that a query can batch them. */
import { and, count, eq, lte, sql } from "drizzle-orm";
import { type Page, type Tenant, within } from "../database.ts";
import type { RoomFigures } from "./schema.ts";
import { type RoomRow, rooms } from "./table.ts";

/** Finds a room by its id, or by the organization's own one. */
export type RoomKey = { readonly id: string } | { readonly customId: string };

const matches = (tenant: Tenant, key: RoomKey) =>
  and(
    eq(rooms.accountId, tenant.accountId),
    "id" in key ? eq(rooms.id, key.id) : eq(rooms.customId, key.customId),
  );

export const selectRoom = (tenant: Tenant, key: RoomKey) =>
  tenant.db.select().from(rooms).where(matches(tenant, key)).limit(1);

/** The id of the room, as a subquery: lets what hangs on a room be read in the same round trip. */
export const selectRoomId = (tenant: Tenant, key: RoomKey) =>
  tenant.db.select({ id: rooms.id }).from(rooms).where(matches(tenant, key));

const filtered = (tenant: Tenant, page: Page) =>
  and(
    eq(rooms.accountId, tenant.accountId),
    ...within(rooms.createdAt, page),
    page.search === "" ? undefined : sql`instr(${rooms.nameFolded}, ${page.search})`,
  );

export const selectRooms = (tenant: Tenant, page: Page) =>
  tenant.db
    .select()
    .from(rooms)
    .where(filtered(tenant, page))
    .orderBy(sql`${rooms.createdAt} DESC`, sql`${rooms.id} DESC`)
    .limit(page.limit)
    .offset(page.offset);

export const countRooms = (tenant: Tenant, page: Page) =>
  tenant.db.select({ total: count() }).from(rooms).where(filtered(tenant, page));

export const insertRoom = (tenant: Tenant, row: RoomRow) => tenant.db.insert(rooms).values(row);

export const updateRoom = (
  tenant: Tenant,
  roomId: string,
  changes: Partial<Pick<RoomRow, "name" | "nameFolded" | "customId" | "state">>,
) =>
  tenant.db
    .update(rooms)
    .set(changes)
    .where(matches(tenant, { id: roomId }))
    .returning();

export const deleteRoom = (tenant: Tenant, roomId: string) =>
  tenant.db
    .delete(rooms)
    .where(matches(tenant, { id: roomId }))
    .returning({ id: rooms.id });

export const countUserCreation = (tenant: Tenant, roomId: string) =>
  tenant.db
    .update(rooms)
    .set({ totalUsersCreated: sql`${rooms.totalUsersCreated} + 1` })
    .where(matches(tenant, { id: roomId }));

/** Copies a room object's figures, unless a newer copy is there already. */
export const updateFigures = (tenant: Tenant, roomId: string, figures: RoomFigures, figuresVersion: number) =>
  tenant.db
    .update(rooms)
    .set({ ...figures, figuresVersion })
    .where(and(matches(tenant, { id: roomId }), lte(rooms.figuresVersion, figuresVersion)));
