/** The statements about users that other features include in their batches. */

import type { IdentityKind } from "@atrium/contract/resources/identity.ts";
import { type Rights, rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import type { RoomState } from "@atrium/contract/resources/room.ts";
import { and, eq, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  nextVersion,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { accounts } from "../../platform/d1/table.ts";
import { accessAsJson, rightsIn } from "../access/statements.ts";
import { roomIdOf } from "../rooms/statements.ts";
import { type BearerRow, type UserRow, users } from "./table.ts";

const TOKEN_EPOCH = sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = users.account_id)`;
const IDENTITY_EPOCH = sql<number | null>`(SELECT identities.token_epoch FROM identities
    WHERE identities.account_id = users.account_id AND identities.id = users.identity_id)`;
/** The fields of a {@link UserRow}, for every statement that returns users. */
export const USER_FIELDS = {
  ...columnsOf(users),
  accountTokenEpoch: TOKEN_EPOCH.as("accountTokenEpoch"),
  identityEpoch: IDENTITY_EPOCH.as("identityEpoch"),
};
const ACCESS = accessAsJson(sql`users.account_id`, sql`users.room_id`, sql`users.identity_id`);
const BEARER_FIELDS = {
  ...USER_FIELDS,
  access: ACCESS.as("access"),
  isGuest: sql<0 | 1>`EXISTS (SELECT 1 FROM identities WHERE identities.account_id = users.account_id
      AND identities.id = users.identity_id AND identities.kind = 'guest')`.as("isGuest"),
  roomState: sql<RoomState | null>`(SELECT state FROM rooms WHERE rooms.account_id = users.account_id
      AND rooms.id = users.room_id AND rooms.deleted_at IS NULL)`.as("roomState"),
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

// By the primary key: without the pluses, SQLite walks through all users of the room instead.
const isAmong = sql`${users.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))
    AND +${users.accountId} = ${sql.placeholder("accountId")} AND +${users.roomId} = ${sql.placeholder("roomId")}`;
/** By the index of identities, from each of them: SQLite does not use a partial index for IN. */
const isOfIdentity = sql`${users.id} IN (SELECT own.id FROM json_each(${sql.placeholder("ids")}) AS wanted
    CROSS JOIN users AS own ON own.account_id = ${sql.placeholder("accountId")} AND own.identity_id = wanted.value
      AND own.room_id = ${sql.placeholder("roomId")})`;

const bearers = preparedByShape((by: "id" | "identity") =>
  build
    .select(BEARER_FIELDS)
    .from(users)
    .where(by === "id" ? isAmong : isOfIdentity),
);
/** The users of the room among these, or those of these identities, with their access. */
export const selectBearers = (
  { accountId }: Tenant,
  roomId: string,
  by: "id" | "identity",
  ids: readonly string[],
): Statement<BearerRow> => bearers(by, { accountId, roomId, ids: JSON.stringify(ids) });

/** The condition that the user is one of the room. */
export const isUserOf = ({ accountId }: Tenant, roomId: string, userId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM users
      WHERE account_id = ${accountId} AND room_id = ${roomIdOf(accountId, roomId)} AND id = ${userId})`;

/** The rights of a user now: those of its role, within its identity's access if it has one. 0 if that was deleted. */
export function rightsOfUser({ role, identityId, identityEpoch, access }: BearerRow): Rights {
  if (identityId === null) return rightsOfRole(role);
  return identityEpoch === null ? 0 : rightsOfRole(role) & rightsIn(access);
}

/** A user's identity with its kind: null without one, and of a deleted one, which can have been a guest. */
export const selectAuthor = (
  { accountId }: Tenant,
  roomId: string,
  userId: string,
): Statement<{ identityId: string | null; kind: IdentityKind | null }> => statement`SELECT
      identity_id AS "identityId", (SELECT identities.kind FROM identities
        WHERE identities.account_id = users.account_id AND identities.id = users.identity_id) AS kind
    FROM users WHERE id = ${userId} AND +account_id = ${accountId} AND +room_id = ${roomId}`;

/** The constraint that {@link requireSameAccess} violates. */
export const ACCESS_CHANGED = "required:users.role";

/** Fails its batch if a user has another role by now, or its identity other access. */
export const requireSameAccess = (
  userId: string,
  { role, access, identityEpoch }: Pick<BearerRow, "role" | "access" | "identityEpoch">,
): Statement => statement`UPDATE users SET role = NULL WHERE id = ${userId} AND (role <> ${role}
    OR identity_id IS NOT NULL AND (${IDENTITY_EPOCH} IS NOT ${identityEpoch} OR ${ACCESS} IS NOT ${access}))`;

export const selectAccountTokenEpoch = ({ accountId }: Tenant): Statement<{ tokenEpoch: number }> =>
  statement`SELECT token_epoch AS tokenEpoch FROM accounts WHERE id = ${accountId}`;

export const selectIdentityEpoch = (
  { accountId }: Tenant,
  identityId: string,
): Statement<{ epoch: number; kind: IdentityKind }> =>
  statement`SELECT token_epoch AS epoch, kind FROM identities WHERE account_id = ${accountId} AND id = ${identityId}`;

/** The constraint that {@link requireIdentity} violates. */
export const IDENTITY_GONE = "required:identities.account_id";

/** Fails its batch unless the identity exists: it may have been deleted since it was read. */
export const requireIdentity = ({ accountId }: Tenant, identityId: string): Statement =>
  statement`INSERT INTO identities (id) SELECT ${identityId} WHERE NOT EXISTS (SELECT 1 FROM identities
      WHERE account_id = ${accountId} AND id = ${identityId})`;

export const endTokensOfAccount = ({ accountId }: Tenant, now: number): Statement =>
  statement(
    build
      .update(accounts)
      .set({ tokenEpoch: nextVersion(accounts.tokenEpoch, now) })
      .where(eq(accounts.id, accountId)),
  );
