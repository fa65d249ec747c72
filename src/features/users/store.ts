/** The statements that write users, for their own commands. */
import { and, eq, sql } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { placeholdersOf, prepared } from "../../platform/d1/prepared-statement.ts";
import { roomIdOf } from "../rooms/shared-store.ts";
import { USER_FIELDS } from "./shared-store.ts";
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

export const whereIs = ({ accountId }: Tenant, roomId: string, userId: string) =>
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
