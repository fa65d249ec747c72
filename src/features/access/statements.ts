/** The SQL of access that other features include in their statements. */

import type { IdentityKind } from "@atrium/contract/resources/identity.ts";
import {
  type Access,
  BAN,
  decideAccess,
  Permission,
  type Rights,
  rightsOf,
} from "@atrium/contract/resources/permissions.ts";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { insertForRooms } from "../../delivery/outbox/outbox-store.ts";
import { type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { IS_LIVE } from "../rooms/table.ts";

const StoredAccess = z.object({
  byDefault: z.array(Permission).nullable(),
  groups: z.array(z.tuple([z.string(), z.array(Permission)])),
  identity: z.array(z.union([Permission, z.literal(BAN)])).nullable(),
});

const COMMAND = "access.changed";

/** The command that tells a room that an identity's access has changed there; of anyone's with null. */
export const accessChanged = (identityId: string | null) => ({ type: COMMAND, identityId }) as const;

const commandFor = (ctx: Tenant & { now(): number }, identityId: string | null, rooms: SQL) => {
  const command = JSON.stringify(accessChanged(identityId));
  return insertForRooms({ accountId: ctx.accountId, command, at: ctx.now() }, rooms);
};

/** Tells the rooms of an identity. Belongs into the batch of the change, as each of the following. */
export const tellRoomsOfIdentity = (ctx: Tenant & { now(): number }, identityId: string) =>
  commandFor(
    ctx,
    identityId,
    sql`SELECT room_id FROM users WHERE account_id = ${ctx.accountId} AND identity_id = ${identityId}`,
  );

/** The same for several; `identities` is a query of their IDs. */
export const tellRoomsOfIdentities = (ctx: Tenant & { now(): number }, identities: SQL) =>
  commandFor(
    ctx,
    null,
    sql`SELECT room_id FROM users WHERE account_id = ${ctx.accountId} AND identity_id IN (${identities})`,
  );

/** Writes commands for the rooms in which a group has access. Goes before the statement that deletes the group. */
export const tellRoomsOfGroup = (ctx: Tenant & { now(): number }, groupId: string) =>
  commandFor(
    ctx,
    null,
    sql`SELECT room_id FROM room_access WHERE account_id = ${ctx.accountId} AND kind = 'group'
        AND subject_id = ${groupId}`,
  );

type Subject = readonly [kind: "group" | "identity", id: string];

const entriesOf = ({ accountId }: Tenant, [kind, id]: Subject): SQL =>
  sql`room_access WHERE account_id = ${accountId} AND kind = ${kind} AND subject_id = ${id}`;

/** Selects a row if a group or an identity has more than `limit` entries. */
export const selectManyEntries = (tenant: Tenant, subject: Subject, limit: number): Statement =>
  statement`SELECT 1 FROM ${entriesOf(tenant, subject)} LIMIT 1 OFFSET ${limit}`;

/** Deletes up to `limit` entries of a group or an identity, and tells their rooms before. */
export const deleteSomeEntries = (
  ctx: Tenant & { now(): number },
  subject: Subject,
  limit: number,
): readonly [ReturnType<typeof commandFor>, Statement<{ deleted: number }>] => {
  const some = sql`${entriesOf(ctx, subject)} ORDER BY room_id LIMIT ${limit}`;
  return [
    commandFor(ctx, subject[0] === "identity" ? subject[1] : null, sql`SELECT room_id FROM ${some}`),
    statement`DELETE FROM room_access WHERE rowid IN (SELECT rowid FROM ${some}) RETURNING 1 AS deleted`,
  ];
};

/** Tells the rooms of an identity in which one of these groups has access. `groups` is a query of their IDs. */
export const tellRoomsOfMember = (ctx: Tenant & { now(): number }, identityId: string, groups: SQL) =>
  commandFor(
    ctx,
    identityId,
    sql`SELECT users.room_id FROM users CROSS JOIN room_access ON room_access.account_id = users.account_id
          AND room_access.room_id = users.room_id AND room_access.kind = 'group'
        WHERE users.account_id = ${ctx.accountId} AND users.identity_id = ${identityId}
          AND room_access.subject_id IN (${groups})`,
  );

/** SQL that is true of the guest of another room. The arguments are values or SQL, as in the following. */
export const isGuestElsewhere = (accountId: Term, roomId: Term, identityId: Term): SQL =>
  sql`EXISTS (SELECT 1 FROM identities AS guests CROSS JOIN room_links ON room_links.account_id = guests.account_id
        AND room_links.id = guests.link_id
      WHERE guests.account_id = ${accountId} AND guests.id = ${identityId} AND room_links.room_id <> ${roomId})`;

type Term = SQL | string;

const NO_ENTRY = JSON.stringify({ byDefault: null, identity: [BAN], groups: [] });

/** SQL of the access of an identity to a room, as JSON. */
export const accessAsJson = (accountId: Term, roomId: Term, identityId: Term): SQL<string> => {
  const entry = (kind: string, subjectId: Term) =>
    sql`(SELECT json(permissions) FROM room_access WHERE account_id = ${accountId} AND room_id = ${roomId}
        AND kind = ${kind} AND subject_id = ${subjectId})`;
  // CROSS JOIN makes SQLite go from the identity's groups to their entries, however many entries the room has.
  const groups = sql`(
      SELECT json_group_array(json_array(room_access.subject_id, json(room_access.permissions))) FROM group_members
        CROSS JOIN room_access
      WHERE group_members.account_id = ${accountId} AND group_members.identity_id = ${identityId}
        AND room_access.account_id = ${accountId} AND room_access.room_id = ${roomId}
        AND room_access.kind = 'group' AND room_access.subject_id = group_members.group_id)`;
  return sql`iif(${isGuestElsewhere(accountId, roomId, identityId)}, ${NO_ENTRY}, json_object(
      'byDefault', ${entry("default", "")}, 'identity', ${entry("identity", identityId)}, 'groups', ${groups}))`;
};

/** An identity is in fewer groups. */
const MAX_COUNTED_ENTRIES = 201;

/**
 * SQL for whether an identity may enter a room, with the rule of {@link decideAccess}: any entry allows something, and its
 * own overrides the others. Groups are looked up from the shorter side: the groups of the identity, or the entries of the
 * room.
 */
const mayEnter = (accountId: Term, roomId: Term, identityId: Term): SQL => {
  const entries = (kind: string) =>
    sql`room_access.account_id = ${accountId} AND room_access.room_id = ${roomId} AND room_access.kind = ${kind}`;
  const ofGroups = entries("group");
  const memberships = sql`group_members.account_id = ${accountId} AND group_members.identity_id = ${identityId}`;
  const shared = (from: SQL) =>
    sql`EXISTS (SELECT 1 FROM ${from} WHERE ${memberships}
        AND ${ofGroups} AND room_access.subject_id = group_members.group_id)`;
  return sql`NOT ${isGuestElsewhere(accountId, roomId, identityId)} AND ifnull((
      SELECT instr(permissions, ${`"${BAN}"`}) = 0 FROM room_access
        WHERE ${entries("identity")} AND subject_id = ${identityId}),
      EXISTS (SELECT 1 FROM room_access WHERE ${entries("default")}) OR CASE WHEN (SELECT count(*) FROM (
          SELECT 1 FROM room_access WHERE ${ofGroups} LIMIT ${MAX_COUNTED_ENTRIES}))
        > (SELECT count(*) FROM group_members WHERE ${memberships})
      THEN ${shared(sql`group_members CROSS JOIN room_access`)}
      ELSE ${shared(sql`room_access CROSS JOIN group_members`)} END)`;
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

/** SQL that is true of rooms that are neither closed nor deleted. */
const IS_OPEN = sql`${IS_LIVE} AND rooms.state = 'active'`;

interface OpenRoom {
  readonly id: string;
  readonly customId: string | null;
}

/** The rooms among these that the identity may enter. */
export const selectOpenRooms = (
  { accountId }: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Statement<OpenRoom> =>
  statement`SELECT rooms.id, rooms.custom_id AS customId
      FROM json_each(${JSON.stringify(roomIds)}) AS asked CROSS JOIN rooms
      WHERE rooms.account_id = ${accountId} AND rooms.id = asked.value AND ${IS_OPEN}
        AND ${mayEnter(accountId, sql`rooms.id`, identityId)}`;

export interface ReaderRow {
  readonly id: string;
  readonly kind: IdentityKind;
  /** The identity's user in the room; null without one. */
  readonly userId: string | null;
  /** 1 when it may enter the room. */
  readonly mayRead: 0 | 1;
}

/** The identities among these that exist, and whether they may read a room. */
export const selectReaders = (
  { accountId }: Tenant,
  roomId: string,
  identityIds: readonly string[],
): Statement<ReaderRow> => statement`SELECT identities.id, identities.kind,
    ${mayEnter(accountId, roomId, sql`identities.id`)} AS "mayRead", (
      SELECT users.id FROM users
      WHERE users.account_id = ${accountId} AND users.room_id = ${roomId}
        AND users.identity_id = identities.id) AS "userId"
    FROM json_each(${JSON.stringify(identityIds)}) AS asked CROSS JOIN identities
    WHERE identities.account_id = ${accountId} AND identities.id = asked.value`;

/** Members of a group that are counted, so that counting is cheap: a larger one is above the default quota anyway. */
const MAX_COUNTED = 100_001;

export interface AgentRow extends Pick<ReaderRow, "id"> {
  /** The ID of the user, identity or group by which a comment mentions it. */
  readonly mention: string;
  readonly isOfGroup: 0 | 1;
  /** 0 when the room is closed. */
  readonly isOpen: 0 | 1;
}

/** Users, identities and groups that a comment mentions. */
interface Named {
  readonly userIds: readonly string[];
  readonly identityIds: readonly string[];
  readonly groupIds: readonly string[];
}

/** The agents that are read: a comment wakes fewer. */
export const MAX_AGENTS = 200;

/**
 * The agents that may read a room: those among mentioned identities and users, then those in groups, each of these once, in
 * the order of the groups. A group is searched from its members, or if they are fewer, from the organization's agents.
 */
export const selectAgents = (
  { accountId }: Tenant,
  roomId: string,
  { userIds, identityIds, groupIds }: Named,
): Statement<AgentRow> => {
  const members = sql`group_members.account_id = ${accountId} AND group_members.group_id = asked.value`;
  const agents = sql`agents.account_id = ${accountId} AND agents.kind = 'agent'`;
  const count = (from: SQL) => sql`(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNTED}))`;
  return statement`WITH asked AS MATERIALIZED (
      SELECT key, value, ${count(sql`group_members WHERE ${members}`)}
          > ${count(sql`identities AS agents WHERE ${agents}`)} AS has_more_members
        FROM json_each(${JSON.stringify(groupIds)}) AS asked)
    SELECT identities.id, named.mention, named.is_of_group AS "isOfGroup",
      EXISTS (SELECT 1 FROM rooms WHERE account_id = ${accountId} AND id = ${roomId} AND ${IS_OPEN}) AS "isOpen"
    FROM (
      SELECT 0 AS is_of_group, key AS place, value AS mention, value AS identity_id
        FROM json_each(${JSON.stringify(identityIds)})
      UNION ALL SELECT 0, of_users.key, users.id, users.identity_id
        FROM json_each(${JSON.stringify(userIds)}) AS of_users CROSS JOIN users
          ON users.id = of_users.value AND +users.account_id = ${accountId} AND +users.room_id = ${roomId}
      UNION ALL SELECT 1, min(key), value, id FROM (
        SELECT asked.key, asked.value, agents.id FROM asked CROSS JOIN identities AS agents ON ${agents}
            CROSS JOIN group_members ON ${members} AND group_members.identity_id = agents.id
          WHERE has_more_members
        UNION ALL SELECT asked.key, asked.value, agents.id FROM asked CROSS JOIN group_members ON ${members}
            CROSS JOIN identities AS agents ON ${agents} AND agents.id = group_members.identity_id
          WHERE NOT has_more_members
      ) GROUP BY id
    ) AS named CROSS JOIN identities ON identities.account_id = ${accountId} AND identities.id = named.identity_id
    WHERE identities.kind = 'agent' AND ${mayEnter(accountId, roomId, sql`identities.id`)}
    ORDER BY named.is_of_group, named.place, identities.id LIMIT ${MAX_AGENTS}`;
};

/** The groups among these that exist, with how many members they have. */
export const selectGroups = (
  { accountId }: Tenant,
  groupIds: readonly string[],
): Statement<{ id: string; size: number }> => statement`SELECT identity_groups.id, (
      SELECT count(*) FROM (
        SELECT 1 FROM group_members
        WHERE group_members.account_id = identity_groups.account_id AND group_id = identity_groups.id
        LIMIT ${MAX_COUNTED})) AS size
    FROM json_each(${JSON.stringify(groupIds)}) AS asked CROSS JOIN identity_groups
    WHERE identity_groups.account_id = ${accountId} AND identity_groups.id = asked.value`;

/** The members of a group after an ID, in the order of their IDs. */
export const selectMembersAfter = (
  { accountId }: Tenant,
  groupId: string,
  after: string,
  limit: number,
): Statement<{ id: string }> => statement`SELECT identity_id AS id FROM group_members
    WHERE account_id = ${accountId} AND group_id = ${groupId} AND identity_id > ${after}
      ORDER BY identity_id LIMIT ${limit}`;
