/** The statements about users that other features include in their batches. */
import { and, eq, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  nextVersion,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { accounts } from "../../platform/d1/table.ts";
import { roomIdOf } from "../rooms/statements.ts";
import { type UserRow, users } from "./table.ts";

const TOKEN_EPOCH = "(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = users.account_id)";
/** The fields of a {@link UserRow}, for every statement that returns users. */
export const USER_FIELDS = {
  ...columnsOf(users),
  accountTokenEpoch: sql<number>`${sql.raw(TOKEN_EPOCH)}`.as("accountTokenEpoch"),
};

export type UserKey = { readonly id: string } | { readonly customId: string };

const inRoom = and(
  eq(users.accountId, sql.placeholder("accountId")),
  sql`${users.roomId} = ${roomIdOf(sql.placeholder("accountId"), sql.placeholder("roomId"))}`,
);

const userByKey = preparedByShape((key: "id" | "customId") =>
  build
    .select(USER_FIELDS)
    .from(users)
    .where(and(inRoom, eq(users[key], sql.placeholder(key))))
    .limit(1),
);

export const selectUser = ({ accountId }: Tenant, roomId: string, key: UserKey): Statement<UserRow> =>
  userByKey("id" in key ? "id" : "customId", { accountId, roomId, ...key });

const usersById = prepared(() =>
  build
    .select(USER_FIELDS)
    .from(users)
    // By the primary key: without the pluses, SQLite walks through all users of the room instead.
    .where(
      sql`${users.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))
        AND +${users.accountId} = ${sql.placeholder("accountId")} AND +${users.roomId} = ${sql.placeholder("roomId")}`,
    ),
);

/** The users among these who exist in the room. */
export const selectUsersById = ({ accountId }: Tenant, roomId: string, userIds: readonly string[]) =>
  usersById({ accountId, roomId, ids: JSON.stringify(userIds) });

export const selectAccountTokenEpoch = ({ accountId }: Tenant): Statement<{ tokenEpoch: number }> => ({
  sql: "SELECT token_epoch AS tokenEpoch FROM accounts WHERE id = ?",
  params: [accountId],
});

export const endTokensOfAccount = ({ accountId }: Tenant, now: number): Statement =>
  statement(
    build
      .update(accounts)
      .set({ tokenEpoch: nextVersion(accounts.tokenEpoch, now) })
      .where(eq(accounts.id, accountId)),
  );
