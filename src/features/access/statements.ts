/** The SQL of access that other features include in their statements. */
import * as z from "zod";
import { insertForRooms, type RoomQuery } from "../../delivery/outbox/outbox-store.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { IdentityKind } from "../../wire/identity.ts";
import { type Access, BAN, decideAccess, Permission, type Rights, rightsOf } from "../../wire/permissions.ts";

const StoredAccess = z.object({
  byDefault: z.array(Permission).nullable(),
  groups: z.array(z.tuple([z.string(), z.array(Permission)])),
  identity: z.array(z.union([Permission, z.literal(BAN)])).nullable(),
});

const COMMAND = "access.changed";

/** The command that tells a room that an identity's access has changed there; of anyone's with null. */
export const accessChanged = (identityId: string | null) => ({ type: COMMAND, identityId }) as const;

const commandFor = (ctx: Tenant & { now(): number }, identityId: string | null, rooms: RoomQuery) => {
  const command = JSON.stringify(accessChanged(identityId));
  return insertForRooms({ accountId: ctx.accountId, command, at: ctx.now() }, rooms);
};

/** Tells the rooms of an identity. Belongs into the batch of the change, as each of the following. */
export const tellRoomsOfIdentity = (ctx: Tenant & { now(): number }, identityId: string) =>
  commandFor(ctx, identityId, {
    sql: "SELECT room_id FROM users WHERE account_id = ? AND identity_id = ?",
    params: [ctx.accountId, identityId],
  });

/** The same for several; `identities` is a query of their IDs. */
export const tellRoomsOfIdentities = (ctx: Tenant & { now(): number }, identities: RoomQuery) =>
  commandFor(ctx, null, {
    sql: `SELECT room_id FROM users WHERE account_id = ? AND identity_id IN (${identities.sql})`,
    params: [ctx.accountId, ...identities.params],
  });

/** Tells the rooms in which a group has access; before the statement that deletes it. */
export const tellRoomsOfGroup = (ctx: Tenant & { now(): number }, groupId: string) =>
  commandFor(ctx, null, {
    sql: "SELECT room_id FROM room_access WHERE account_id = ? AND kind = 'group' AND subject_id = ?",
    params: [ctx.accountId, groupId],
  });

const OF_SUBJECT = "account_id = ? AND kind = ? AND subject_id = ?";

type Subject = readonly [kind: "group" | "identity", id: string];

/** Selects a row if a group or an identity has more than `limit` entries. */
export const selectManyEntries = ({ accountId }: Tenant, subject: Subject, limit: number): Statement => ({
  sql: `SELECT 1 FROM room_access WHERE ${OF_SUBJECT} LIMIT 1 OFFSET ?`,
  params: [accountId, ...subject, limit],
});

/** Deletes up to `limit` entries of a group or an identity, and tells their rooms before. */
export const deleteSomeEntries = (
  ctx: Tenant & { now(): number },
  subject: Subject,
  limit: number,
): readonly [ReturnType<typeof commandFor>, Statement<{ deleted: number }>] => {
  const params = [ctx.accountId, ...subject, limit];
  const some = (column: string) =>
    `SELECT ${column} FROM room_access WHERE ${OF_SUBJECT} ORDER BY room_id LIMIT ?`;
  return [
    commandFor(ctx, subject[0] === "identity" ? subject[1] : null, { sql: some("room_id"), params }),
    { sql: `DELETE FROM room_access WHERE rowid IN (${some("rowid")}) RETURNING 1 AS deleted`, params },
  ];
};

/** Tells the rooms of an identity in which one of these groups has access. `groups` is a query of their IDs. */
export const tellRoomsOfMember = (ctx: Tenant & { now(): number }, identityId: string, groups: RoomQuery) =>
  commandFor(ctx, identityId, {
    sql: `SELECT users.room_id FROM users CROSS JOIN room_access ON room_access.account_id = users.account_id
            AND room_access.room_id = users.room_id AND room_access.kind = 'group'
          WHERE users.account_id = ? AND users.identity_id = ? AND room_access.subject_id IN (${groups.sql})`,
    params: [ctx.accountId, identityId, ...groups.params],
  });

/** SQL that is true of the guest of another room; the arguments are SQL. */
export const isGuestElsewhere = (accountId: string, roomId: string, identityId: string): string =>
  `EXISTS (SELECT 1 FROM identities AS guests CROSS JOIN room_links ON room_links.account_id = guests.account_id
      AND room_links.id = guests.link_id
    WHERE guests.account_id = ${accountId} AND guests.id = ${identityId} AND room_links.room_id <> ${roomId})`;

const NO_ENTRY = JSON.stringify({ byDefault: null, identity: [BAN], groups: [] });

/** SQL of what decides the access of an identity to a room, as JSON; the arguments are SQL. */
export const accessAsJson = (accountId: string, roomId: string, identityId: string): string => {
  const entry = (kind: string, subjectId: string) =>
    `(SELECT json(permissions) FROM room_access WHERE account_id = ${accountId} AND room_id = ${roomId}
        AND kind = '${kind}' AND subject_id = ${subjectId})`;
  // CROSS JOIN: from the identity's groups to their entries, however many entries the room has.
  return `iif(${isGuestElsewhere(accountId, roomId, identityId)}, '${NO_ENTRY}', json_object('byDefault', ${entry("default", "''")}, 'identity', ${entry("identity", identityId)}, 'groups', (
    SELECT json_group_array(json_array(room_access.subject_id, json(room_access.permissions))) FROM group_members CROSS JOIN room_access
    WHERE group_members.account_id = ${accountId} AND group_members.identity_id = ${identityId}
      AND room_access.account_id = ${accountId} AND room_access.room_id = ${roomId}
      AND room_access.kind = 'group' AND room_access.subject_id = group_members.group_id)))`;
};

/** An identity is in fewer groups. */
const MAX_COUNTED_ENTRIES = 201;

/**
 * SQL of whether an identity may enter a room, as {@link decideAccess} decides: any entry allows something, and its own
 * goes before the others. The arguments are SQL. Groups are looked for from the shorter side: those of the identity, or the
 * entries of the room.
 */
export const mayEnter = (accountId: string, roomId: string, identityId: string): string => {
  const entries = (kind: string) =>
    `room_access.account_id = ${accountId} AND room_access.room_id = ${roomId} AND room_access.kind = '${kind}'`;
  const memberships = `group_members.account_id = ${accountId} AND group_members.identity_id = ${identityId}`;
  const shared = (from: string, to: string) =>
    `EXISTS (SELECT 1 FROM ${from} CROSS JOIN ${to} WHERE ${memberships}
       AND ${entries("group")} AND room_access.subject_id = group_members.group_id)`;
  return `NOT ${isGuestElsewhere(accountId, roomId, identityId)} AND ifnull((
    SELECT instr(permissions, '"${BAN}"') = 0 FROM room_access WHERE ${entries("identity")} AND subject_id = ${identityId}),
    EXISTS (SELECT 1 FROM room_access WHERE ${entries("default")}) OR CASE WHEN (SELECT count(*) FROM (
        SELECT 1 FROM room_access WHERE ${entries("group")} LIMIT ${MAX_COUNTED_ENTRIES}))
      > (SELECT count(*) FROM group_members WHERE ${memberships})
    THEN ${shared("group_members", "room_access")} ELSE ${shared("room_access", "group_members")} END)`;
};

/** Reads the JSON of {@link accessAsJson}. `groupIds` has the IDs of `groups`, in the same order. */
export function parseAccess(json: string): Access & { readonly groupIds: readonly string[] } {
  const { byDefault, groups, identity } = StoredAccess.parse(JSON.parse(json));
  return {
    byDefault: byDefault ?? [],
    groups: groups.map(([, permissions]) => permissions),
    groupIds: groups.map(([id]) => id),
    identity,
  };
}

export const rightsIn = (json: string): Rights => rightsOf(decideAccess(parseAccess(json)));

export interface ReaderRow {
  readonly id: string;
  readonly kind: IdentityKind;
  /** Its user in the room; null without one. */
  readonly userId: string | null;
  /** 1 when it may enter the room. */
  readonly mayRead: 0 | 1;
}

/** The identities among these that exist, and whether they may read a room. */
export const selectReaders = (
  { accountId }: Tenant,
  roomId: string,
  identityIds: readonly string[],
): Statement<ReaderRow> => ({
  sql: `SELECT identities.id, identities.kind, ${mayEnter("?1", "?2", "identities.id")} AS "mayRead", (
          SELECT users.id FROM users
          WHERE users.account_id = ?1 AND users.room_id = ?2 AND users.identity_id = identities.id) AS "userId"
        FROM json_each(?3) AS asked CROSS JOIN identities
        WHERE identities.account_id = ?1 AND identities.id = asked.value`,
  params: [accountId, roomId, JSON.stringify(identityIds)],
});

/** Members of a group that are counted, so that counting is cheap: a larger one is above the default quota anyway. */
const MAX_COUNTED = 100_001;

/** The groups among these that exist, with how many members they have. */
export const selectGroups = (
  { accountId }: Tenant,
  groupIds: readonly string[],
): Statement<{ id: string; size: number }> => ({
  sql: `SELECT identity_groups.id, (
          SELECT count(*) FROM (
            SELECT 1 FROM group_members
            WHERE group_members.account_id = identity_groups.account_id AND group_id = identity_groups.id
            LIMIT ${MAX_COUNTED})) AS size
        FROM json_each(?) AS asked CROSS JOIN identity_groups
        WHERE identity_groups.account_id = ? AND identity_groups.id = asked.value`,
  params: [JSON.stringify(groupIds), accountId],
});

/** The members of a group after an ID, in the order of their IDs. */
export const selectMembersAfter = (
  { accountId }: Tenant,
  groupId: string,
  after: string,
  limit: number,
): Statement<{ id: string }> => ({
  sql: `SELECT identity_id AS id FROM group_members
        WHERE account_id = ? AND group_id = ? AND identity_id > ? ORDER BY identity_id LIMIT ?`,
  params: [accountId, groupId, after, limit],
});
