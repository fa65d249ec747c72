/** The only SQL about groups and their members. */
import { and, eq, sql } from "drizzle-orm";
import { type EventEntry, type Fragment, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  type Page,
  placeholdersOf,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { countUsed, type Upcoming } from "../quotas/statements.ts";
import { rowsOf } from "./store.ts";
import { type GroupRow, groupMembers, identityGroups } from "./table.ts";

const accountId = sql.placeholder("accountId");

export const GROUPS = rowsOf<GroupRow>(identityGroups, (tenant) => countUsed(tenant, "groups"));

const groupInsertion = prepared(() => build.insert(identityGroups).values(placeholdersOf(identityGroups)));
export const insertGroup = (_: Tenant, row: GroupRow): Statement => groupInsertion(row);

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

/** True for an identity that exists, and is neither in the group nor in `max` others. */
function canJoin(tenant: Tenant, membership: Membership, max: number): Fragment {
  const { sql, params } = selectMember(tenant, membership);
  const identity = [tenant.accountId, membership.identityId];
  return {
    sql: `EXISTS (SELECT 1 FROM identities WHERE account_id = ? AND id = ?)
      AND (SELECT count(*) FROM group_members WHERE account_id = ? AND identity_id = ?) < ?
      AND NOT EXISTS (${sql})`,
    params: [...identity, ...identity, max, ...params],
  };
}

/** Before {@link insertMember}: what it adds. */
export function membersAdded(tenant: Tenant, membership: Membership, max: number): Upcoming {
  const { sql, params } = canJoin(tenant, membership, max);
  return { sql: `iif(${sql}, 1, NULL)`, params };
}

/** Adds an identity to a group if both exist, unless it is in it or in `max` others. */
export function insertMember(
  tenant: Tenant,
  membership: Membership,
  { now, max }: { readonly now: number; readonly max: number },
): Statement {
  const condition = canJoin(tenant, membership, max);
  return {
    sql: `INSERT INTO group_members (account_id, group_id, identity_id, added_at)
          SELECT account_id, id, ?, ? FROM identity_groups WHERE account_id = ? AND id = ? AND ${condition.sql}`,
    params: [membership.identityId, now, tenant.accountId, membership.groupId, ...condition.params],
  };
}

const GROUP_JSON = rowAsJson(identityGroups, "identity_groups").sql;

/** `group.updated` of an identity that enters or leaves the group, if the condition is true. */
export const insertGroupEvent = (
  tenant: Tenant,
  entry: EventEntry,
  { groupId, identityId }: Membership,
  condition: Fragment = { sql: "TRUE", params: [] },
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: "identity_groups",
    where: {
      sql: `identity_groups.account_id = ? AND identity_groups.id = ? AND ${condition.sql}`,
      params: [tenant.accountId, groupId, ...condition.params],
    },
    subject: { sql: `json_set(${GROUP_JSON}, '$.member', ?)`, params: [identityId] },
  });

/** Before {@link insertMember}: if it adds the identity. */
export const insertMemberAdded = (tenant: Tenant, entry: EventEntry, membership: Membership, max: number) =>
  insertGroupEvent(tenant, entry, membership, canJoin(tenant, membership, max));

/** Before {@link deleteMember}: if the identity is in the group. */
export function insertMemberRemoved(tenant: Tenant, entry: EventEntry, membership: Membership) {
  const { sql, params } = selectMember(tenant, membership);
  return insertGroupEvent(tenant, entry, membership, { sql: `EXISTS (${sql})`, params });
}

/** Returns the identity's ID if it was a member. */
export const deleteMember = (tenant: Tenant, membership: Membership) =>
  statement(
    build.delete(groupMembers).where(isMember(tenant, membership)).returning({ id: groupMembers.identityId }),
  );

/** Selects a row if a group has more than `limit` members. */
export const selectManyMembers = ({ accountId }: Tenant, groupId: string, limit: number): Statement => ({
  sql: "SELECT 1 FROM group_members WHERE account_id = ? AND group_id = ? LIMIT 1 OFFSET ?",
  params: [accountId, groupId, limit],
});

export const deleteSomeMembers = (
  { accountId }: Tenant,
  groupId: string,
  limit: number,
): Statement<{ deleted: number }> => ({
  sql: `DELETE FROM group_members WHERE rowid IN (
          SELECT rowid FROM group_members WHERE account_id = ? AND group_id = ? LIMIT ?) RETURNING 1 AS deleted`,
  params: [accountId, groupId, limit],
});

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
export const selectGroupsByKeys = (
  { accountId }: Tenant,
  keys: readonly string[],
): Statement<{ id: string; customId: string | null }> => ({
  sql: ["id", "custom_id"]
    .map(
      (column) => `SELECT identity_groups.id, custom_id AS customId FROM json_each(?2) AS keys
        CROSS JOIN identity_groups ON account_id = ?1 AND identity_groups.${column} = keys.value`,
    )
    .join(" UNION "),
  params: [accountId, JSON.stringify(keys)],
});

/** The IDs of an identity's groups by its custom ID. */
export const selectGroupIds = ({ accountId }: Tenant, customId: string): Statement<{ groupId: string }> => ({
  sql: `SELECT group_id AS groupId FROM group_members JOIN identities ON identities.account_id = group_members.account_id
          AND identities.id = group_members.identity_id
        WHERE group_members.account_id = ? AND identities.custom_id = ?`,
  params: [accountId, customId],
});

/** The query of the groups that an identity leaves or enters when it is to be in exactly these. */
export const differingGroups = (
  { accountId }: Tenant,
  identityId: string,
  groupIds: readonly string[],
): Pick<Statement, "sql" | "params"> => ({
  sql: `SELECT group_id FROM group_members WHERE account_id = ? AND identity_id = ?
          AND group_id NOT IN (SELECT value FROM json_each(?))
        UNION ALL SELECT value FROM json_each(?) WHERE value NOT IN (
          SELECT group_id FROM group_members WHERE account_id = ? AND identity_id = ?)`,
  params: [accountId, identityId, JSON.stringify(groupIds), JSON.stringify(groupIds), accountId, identityId],
});

/** Puts an identity into these groups, and out of all others. */
export const setGroups = (
  { accountId }: Tenant,
  identityId: string,
  groupIds: readonly string[],
  now: number,
): readonly [Statement, Statement] => [
  {
    sql: `DELETE FROM group_members WHERE account_id = ? AND identity_id = ?
            AND group_id NOT IN (SELECT value FROM json_each(?))`,
    params: [accountId, identityId, JSON.stringify(groupIds)],
  },
  {
    sql: `INSERT INTO group_members (account_id, group_id, identity_id, added_at)
          SELECT account_id, id, ?, ? FROM identity_groups
          WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)) ON CONFLICT DO NOTHING`,
    params: [identityId, now, accountId, JSON.stringify(groupIds)],
  },
];
