/** The only SQL about groups and their members. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  insertionInto,
  listed,
  type Page,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { countUsed } from "../quotas/statements.ts";
import { rowsOf } from "./store.ts";
import { type GroupRow, groupMembers, identityGroups } from "./table.ts";

const accountId = sql.placeholder("accountId");

export const GROUPS = rowsOf<GroupRow>(identityGroups, (tenant) => countUsed(tenant, "groups"));

export const insertGroup = insertionInto(identityGroups);

/** A membership by its two IDs. */
interface Membership {
  readonly groupId: string;
  readonly identityId: string;
}

const isMember = ({ accountId }: Tenant, { groupId, identityId }: Membership) =>
  and(
    eq(groupMembers.accountId, accountId),
    eq(groupMembers.groupId, groupId),
    eq(groupMembers.identityId, identityId),
  );

export const selectMember = (tenant: Tenant, membership: Membership) =>
  statement(
    build
      .select({ addedAt: sql<number>`${groupMembers.addedAt}`.as("addedAt") })
      .from(groupMembers)
      .where(isMember(tenant, membership)),
  );

/** The condition that it is a membership. */
const isThere = (tenant: Tenant, membership: Membership): SQL =>
  sql`EXISTS (SELECT 1 FROM ${groupMembers} WHERE ${isMember(tenant, membership)})`;

/** True for an identity that exists, and is neither in the group nor in `max` others. */
const canJoin = (tenant: Tenant, membership: Membership, max: number): SQL =>
  sql`EXISTS (SELECT 1 FROM identities WHERE account_id = ${tenant.accountId} AND id = ${membership.identityId})
      AND (SELECT count(*) FROM group_members
        WHERE account_id = ${tenant.accountId} AND identity_id = ${membership.identityId}) < ${max}
      AND NOT ${isThere(tenant, membership)}`;

/** Number of members that {@link insertMember} adds; goes before it. */
export const membersAdded = (tenant: Tenant, membership: Membership, max: number): SQL =>
  sql`iif(${canJoin(tenant, membership, max)}, 1, NULL)`;

/** Adds an identity to a group if both exist, unless it is in it or in `max` others. */
export function insertMember(
  tenant: Tenant,
  membership: Membership,
  { now, max }: { readonly now: number; readonly max: number },
): Statement {
  const condition = canJoin(tenant, membership, max);
  return statement`INSERT INTO group_members (account_id, group_id, identity_id, added_at)
      SELECT account_id, id, ${membership.identityId}, ${now} FROM identity_groups
        WHERE account_id = ${tenant.accountId} AND id = ${membership.groupId} AND ${condition}`;
}

const GROUP_JSON = rowAsJson(identityGroups, "identity_groups");

/** `group.updated` of an identity that enters or leaves the group, if the condition is true. */
export const insertGroupEvent = (
  tenant: Tenant,
  entry: EventEntry,
  { groupId, identityId }: Membership,
  condition: SQL = sql`TRUE`,
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: sql`identity_groups`,
    where: sql`identity_groups.account_id = ${tenant.accountId} AND identity_groups.id = ${groupId} AND ${condition}`,
    subject: sql`json_set(${GROUP_JSON}, '$.member', ${identityId})`,
  });

/** The event of a new member, if {@link insertMember} adds it; goes before it. */
export const insertMemberAdded = (tenant: Tenant, entry: EventEntry, membership: Membership, max: number) =>
  insertGroupEvent(tenant, entry, membership, canJoin(tenant, membership, max));

/** The event of a member that left, if it was in the group; goes before {@link deleteMember}. */
export const insertMemberRemoved = (tenant: Tenant, entry: EventEntry, membership: Membership) =>
  insertGroupEvent(tenant, entry, membership, isThere(tenant, membership));

/** Returns the identity's ID if it was a member. */
export const deleteMember = (tenant: Tenant, membership: Membership) =>
  statement(
    build.delete(groupMembers).where(isMember(tenant, membership)).returning({ id: groupMembers.identityId }),
  );

/** Selects a row if a group has more than `limit` members. */
export const selectManyMembers = ({ accountId }: Tenant, groupId: string, limit: number): Statement =>
  statement`SELECT 1 FROM group_members WHERE account_id = ${accountId} AND group_id = ${groupId}
      LIMIT 1 OFFSET ${limit}`;

export const deleteSomeMembers = (
  { accountId }: Tenant,
  groupId: string,
  limit: number,
): Statement<{ deleted: number }> => statement`DELETE FROM group_members WHERE rowid IN (
    SELECT rowid FROM group_members WHERE account_id = ${accountId} AND group_id = ${groupId} LIMIT ${limit})
      RETURNING 1 AS deleted`;

const memberOrder = ordering({
  table: groupMembers,
  by: { added_at: "addedAt" },
  time: "addedAt",
  id: "identityId",
});

export const memberPositionOf = memberOrder.positionOf;

const inGroup = and(
  eq(groupMembers.accountId, accountId),
  eq(groupMembers.groupId, sql.placeholder("groupId")),
);
const memberPage = memberOrder.pages(columnsOf(groupMembers), (_: "all", placed) => and(inGroup, placed));

export const selectMembers = ({ accountId }: Tenant, groupId: string, page: Page) =>
  memberPage("all", page, { accountId, groupId });

const memberCount = memberOrder.counts((_: "all", placed) => and(inGroup, placed));

export const countMembers = ({ accountId }: Tenant, groupId: string, page: Page) =>
  countOnce(page, () => memberCount("all", page, { accountId, groupId }));

const groupsOf = prepared(() =>
  build
    .select(columnsOf(identityGroups))
    .from(groupMembers)
    .innerJoin(
      identityGroups,
      and(eq(identityGroups.accountId, groupMembers.accountId), eq(identityGroups.id, groupMembers.groupId)),
    )
    .where(
      and(eq(groupMembers.accountId, accountId), eq(groupMembers.identityId, sql.placeholder("identityId"))),
    )
    .orderBy(identityGroups.nameFolded, identityGroups.id),
);

/** The groups of an identity by name. */
export const selectGroupsOf = ({ accountId }: Tenant, identityId: string): Statement<GroupRow> =>
  groupsOf({ accountId, identityId });

/** The groups of these IDs or custom IDs. */
export function selectGroupsByKeys(
  { accountId }: Tenant,
  keys: readonly string[],
): Statement<{ id: string; customId: string | null }> {
  const by = (column: SQL) =>
    sql`SELECT identity_groups.id, custom_id AS customId FROM json_each(${JSON.stringify(keys)}) AS keys
        CROSS JOIN identity_groups ON account_id = ${accountId} AND identity_groups.${column} = keys.value`;
  return statement`${by(sql`id`)} UNION ${by(sql`custom_id`)}`;
}

/** The IDs of an identity's groups by its custom ID. */
export const selectGroupIds = (
  { accountId }: Tenant,
  customId: string,
): Statement<{ groupId: string }> => statement`SELECT group_id AS groupId FROM group_members
    JOIN identities ON identities.account_id = group_members.account_id
      AND identities.id = group_members.identity_id
    WHERE group_members.account_id = ${accountId} AND identities.custom_id = ${customId}`;

/** The query of the groups that an identity leaves or enters when it is to be in exactly these. */
export const differingGroups = (
  { accountId }: Tenant,
  identityId: string,
  groupIds: readonly string[],
): SQL => sql`SELECT group_id FROM group_members
    WHERE account_id = ${accountId} AND identity_id = ${identityId}
      AND group_id NOT IN ${listed(groupIds)}
    UNION ALL SELECT value FROM json_each(${JSON.stringify(groupIds)}) WHERE value NOT IN (
      SELECT group_id FROM group_members WHERE account_id = ${accountId} AND identity_id = ${identityId})`;

/** Puts an identity into these groups, and out of all others. */
export const setGroups = (
  { accountId }: Tenant,
  identityId: string,
  groupIds: readonly string[],
  now: number,
): readonly [Statement, Statement] => [
  statement`DELETE FROM group_members WHERE account_id = ${accountId} AND identity_id = ${identityId}
      AND group_id NOT IN ${listed(groupIds)}`,
  statement`INSERT INTO group_members (account_id, group_id, identity_id, added_at)
      SELECT account_id, id, ${identityId}, ${now} FROM identity_groups
      WHERE account_id = ${accountId} AND id IN ${listed(groupIds)}
        ON CONFLICT DO NOTHING`,
];
