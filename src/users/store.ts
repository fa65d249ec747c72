/** The only SQL about users. Select functions return statements too, so that a query can batch them. */
import { and, count, eq, inArray, or, type SQLWrapper, sql } from "drizzle-orm";
import { type Page, type Tenant, within } from "../database.ts";
import { rooms } from "../rooms/table.ts";
import { type UserRow, users } from "./table.ts";

/** Finds a user of a room by its id, or by the organization's own one. */
export type UserKey = { readonly id: string } | { readonly customId: string };

/** A room by its id, or by a subquery that selects its id. */
export type RoomRef = string | SQLWrapper;

const inRoom = (tenant: Tenant, room: RoomRef) =>
  and(
    eq(users.accountId, tenant.accountId),
    typeof room === "string" ? eq(users.roomId, room) : inArray(users.roomId, sql`${room}`),
  );

const matches = (tenant: Tenant, roomId: string, key: UserKey) =>
  and(inRoom(tenant, roomId), "id" in key ? eq(users.id, key.id) : eq(users.customId, key.customId));

/** The row of the room that users are looked for in. */
export const selectRoomOf = (tenant: Tenant, roomId: string) =>
  tenant.db
    .select()
    .from(rooms)
    .where(and(eq(rooms.accountId, tenant.accountId), eq(rooms.id, roomId)))
    .limit(1);

export const selectUser = (tenant: Tenant, roomId: string, key: UserKey) =>
  tenant.db
    .select()
    .from(users)
    .where(matches(tenant, roomId, key))
    .limit(1);

const filtered = (tenant: Tenant, room: RoomRef, page: Page) =>
  and(
    inRoom(tenant, room),
    ...within(users.createdAt, page),
    page.search === ""
      ? undefined
      : or(
          sql`instr(${users.nameFolded}, ${page.search})`,
          // Ids are lower-case hexadecimal: what folds to a part of one is found again by its lower case.
          sql`instr(${users.id}, ${page.search.toLowerCase()}) = 1`,
        ),
  );

export const selectUsers = (tenant: Tenant, room: RoomRef, page: Page) =>
  tenant.db
    .select()
    .from(users)
    .where(filtered(tenant, room, page))
    .orderBy(sql`${users.createdAt} DESC`, sql`${users.id} DESC`)
    .limit(page.limit)
    .offset(page.offset);

export const countUsers = (tenant: Tenant, room: RoomRef, page: Page) =>
  tenant.db
    .select({ total: count() })
    .from(users)
    .where(filtered(tenant, room, page));

export const insertUser = (tenant: Tenant, row: UserRow) => tenant.db.insert(users).values(row);

export const updateUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  changes: Partial<Pick<UserRow, "name" | "nameFolded" | "profilePicture" | "customId">>,
) =>
  tenant.db
    .update(users)
    .set(changes)
    .where(matches(tenant, roomId, { id: userId }))
    .returning();

export const deleteUser = (tenant: Tenant, roomId: string, userId: string) =>
  tenant.db
    .delete(users)
    .where(matches(tenant, roomId, { id: userId }))
    .returning({ id: users.id });
