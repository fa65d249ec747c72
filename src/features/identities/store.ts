/** The only SQL about identities and groups. */
import { and, eq, getTableName, or, type SQL, sql } from "drizzle-orm";
import {
  differsBy,
  type EventEntry,
  type Fragment,
  insertEvent,
  rowAsJson,
} from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  nextVersion,
  type Page,
  placeholdersOf,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, isUnfiltered, ordering } from "../../platform/d1/ordering.ts";
import { countIdentities, countUsed } from "../quotas/statements.ts";
import { type StoredUser, users } from "../users/table.ts";
import { type GroupRow, groupMembers, type IdentityRow, identities, identityGroups } from "./table.ts";

/** An identity or a group by its own ID, or by the organization's. */
export type Key = { readonly id: string } | { readonly customId: string };

const accountId = sql.placeholder("accountId");

type Changes<Row> = { readonly [Name in keyof Row]?: Row[Name] | undefined };

/** The statements that identities and groups share. `Row` is the table's row. */
function rowsOf<Row extends object>(
  table: typeof identities | typeof identityGroups,
  countAll: (tenant: Tenant) => Statement<{ total: number }>,
) {
  const fields = columnsOf(table);
  const name = getTableName(table);
  const order = ordering({
    table,
    by: { created_at: "createdAt", name: "nameFolded" },
    time: "createdAt",
    id: "id",
  });
  const matching = (filter: "all" | "searched", placed: SQL) =>
    and(
      eq(table.accountId, accountId),
      placed,
      filter === "all"
        ? undefined
        : or(
            sql`instr(${table.nameFolded}, ${sql.placeholder("search")})`,
            // Folding the search has put it into upper case, and IDs are hexadecimal.
            sql`instr(upper(${table.id}), ${sql.placeholder("search")}) = 1`,
          ),
    );
  const filterOf = ({ search }: Page) => (search === "" ? "all" : "searched");
  const pages = order.pages(fields, matching);
  const counts = order.counts(matching);
  const selectBy = (column: "id" | "customId") =>
    prepared(() =>
      build
        .select(fields)
        .from(table)
        .where(and(eq(table.accountId, accountId), eq(table[column], sql.placeholder(column)))),
    );
  const [byId, byCustomId] = [selectBy("id"), selectBy("customId")];
  const isIt = (tenant: Tenant, id: string) => and(eq(table.accountId, tenant.accountId), eq(table.id, id));
  const ofRow = ({ sql, params }: Statement): Statement<Row> => ({ sql, params });
  return {
    positionOf: order.positionOf,

    select: ({ accountId }: Tenant, key: Key): Statement<Row> =>
      ofRow("id" in key ? byId({ accountId, ...key }) : byCustomId({ accountId, ...key })),

    selectPage: ({ accountId }: Tenant, page: Page): Statement<Row> =>
      ofRow(pages(filterOf(page), page, { accountId })),

    count: (tenant: Tenant, page: Page): Statement<{ total: number }> =>
      countOnce(page, () =>
        isUnfiltered(page) ? countAll(tenant) : counts(filterOf(page), page, { accountId: tenant.accountId }),
      ),

    update: (tenant: Tenant, id: string, changes: Changes<Row>): Statement<Row> =>
      ofRow(statement(build.update(table).set(changes).where(isIt(tenant, id)).returning(fields))),

    /**
     * Writes the event about the row whose ID stands for the room's, and returns it, if the row exists. Runs after the
     * statement that creates the row, and before the one that updates or deletes it. With `changes`, it is not written if
     * they change nothing. `shown` replaces the row's own fields.
     */
    insertEvent: (
      tenant: Tenant,
      entry: EventEntry,
      changes: Changes<Row> | null = null,
      shown: object = changes ?? {},
    ): Statement<OutboxEventRow> => {
      const isIt = `${name}.account_id = ? AND ${name}.id = ?`;
      const condition = changes === null ? { sql: "TRUE", params: [] } : differsBy(table, name, changes);
      return insertEvent(tenant, entry, {
        from: name,
        where: {
          sql: `${isIt} AND (${condition.sql})`,
          params: [tenant.accountId, entry.roomId, ...condition.params],
        },
        subject: rowAsJson(table, name, shown),
      });
    },

    /** With its memberships. Returns the ID if it existed. */
    remove: (tenant: Tenant, id: string): Statement<{ id: string }> =>
      statement(build.delete(table).where(isIt(tenant, id)).returning({ id: table.id })),
  };
}

export const IDENTITIES = rowsOf<IdentityRow>(identities, countIdentities);
export const GROUPS = rowsOf<GroupRow>(identityGroups, (tenant) => countUsed(tenant, "groups"));

const identityInsertion = prepared(() => build.insert(identities).values(placeholdersOf(identities)));
export const insertIdentity = (_: Tenant, row: IdentityRow): Statement => identityInsertion(row);

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

const purge =
  (table: "group_members" | "identity_groups" | "identities" | "room_links") =>
  ({ accountId }: Tenant, limit: number): Statement<{ deleted: number }> => ({
    sql: `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE account_id = ? LIMIT ?)
          RETURNING 1 AS deleted`,
    params: [accountId, limit],
  });

/** They delete up to `limit` rows of an organization, what refers to others first. */
export const PURGES = [
  purge("group_members"),
  purge("identity_groups"),
  purge("identities"),
  purge("room_links"),
] as const;

/** The identities with these IDs, in no order. */
export const selectIdentities = ({ accountId }: Tenant, ids: readonly string[]): Statement<IdentityRow> =>
  statement(
    build
      .select(columnsOf(identities))
      .from(identities)
      .where(
        and(
          eq(identities.accountId, accountId),
          sql`${identities.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
        ),
      ),
  );

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

/** Begins a new token epoch of an identity. Returns its ID if it exists. */
export const endTokensOf = ({ accountId }: Tenant, id: string, now: number): Statement<{ id: string }> =>
  statement(
    build
      .update(identities)
      .set({ tokenEpoch: nextVersion(identities.tokenEpoch, now) })
      .where(and(eq(identities.accountId, accountId), eq(identities.id, id)))
      .returning({ id: identities.id }),
  );

const roomOrder = ordering({ table: users, by: { created_at: "createdAt" }, time: "createdAt", id: "id" });

const ofIdentity = and(eq(users.accountId, accountId), eq(users.identityId, sql.placeholder("identityId")));
const roomPage = roomOrder.pages({ ...columnsOf(users) }, (_: "all", placed) => and(ofIdentity, placed));
const roomCount = roomOrder.counts((_: "all", placed) => and(ofIdentity, placed));

export const roomPositionOf = roomOrder.positionOf;

/** The identity's users in rooms, newest first. */
export const selectUsersOf = ({ accountId }: Tenant, identityId: string, page: Page): Statement<StoredUser> =>
  roomPage("all", page, { accountId, identityId });

export const countUsersOf = ({ accountId }: Tenant, identityId: string, page: Page) =>
  countOnce(page, () => roomCount("all", page, { accountId, identityId }));
