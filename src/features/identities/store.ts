/** SQL of identities and their users in rooms, and SQL that groups share with them. */
import { and, eq, getTableName, or, type SQL, sql } from "drizzle-orm";
import { differsBy, type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import {
  build,
  columnsOf,
  insertionInto,
  listed,
  nextVersion,
  type Page,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, isUndated, isUnfiltered, ordering } from "../../platform/d1/ordering.ts";
import { countIdentities } from "../quotas/statements.ts";
import { countHits, type SearchHits } from "../search/statements.ts";
import { type StoredUser, users } from "../users/table.ts";
import { type IdentityRow, identities, type identityGroups } from "./table.ts";

const accountId = sql.placeholder("accountId");

/** An identity or a group by its own ID, or by the organization's. */
export type Key = { readonly id: string } | { readonly customId: string };

/** A page with the result of the search index; null or absent when the list itself is searched. */
interface SearchedPage extends Page {
  readonly hits?: SearchHits | null;
  /** Kinds of the listed identities, as JSON; null or absent for all. */
  readonly kinds?: string | null;
}

type Filter = "all" | "searched" | "few";

type Changes<Row> = { readonly [Name in keyof Row]?: Row[Name] | undefined };

/** The statements that identities and groups share. `Row` is the table's row. */
export function rowsOf<Row extends object>(
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
  // Uses the primary key: a condition on the account alone would have SQLite walk through the list.
  const isHit = sql`(${table.accountId}, ${table.id}) IN (
      SELECT ${accountId}, value FROM json_each(${sql.placeholder("ids")}))`;
  const kinds = sql.placeholder("kinds");
  const isListed =
    "kind" in table
      ? sql`(${kinds} IS NULL OR ${table.kind} IN (SELECT value FROM json_each(${kinds})))`
      : undefined;
  const matching = (filter: Filter, placed: SQL) =>
    and(
      isListed,
      filter === "few" ? isHit : eq(table.accountId, accountId),
      placed,
      filter === "all"
        ? undefined
        : or(
            sql`instr(${table.nameFolded}, ${sql.placeholder("search")})`,
            // Folding the search has put it into upper case, and IDs are hexadecimal.
            sql`instr(upper(${table.id}), ${sql.placeholder("search")}) = 1`,
          ),
    );
  const filterOf = ({ search, hits }: SearchedPage): Filter =>
    search === "" ? "all" : typeof hits?.ids === "string" ? "few" : "searched";
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

    selectPage: ({ accountId }: Tenant, page: SearchedPage): Statement<Row> =>
      ofRow(pages(filterOf(page), page, { accountId, ids: page.hits?.ids, kinds: page.kinds ?? null })),

    count: (tenant: Tenant, page: SearchedPage): Statement<{ total: number }> =>
      countOnce(page, () => {
        const kinds = page.kinds ?? null;
        if (kinds === null && isUnfiltered(page)) return countAll(tenant);
        if (kinds === null && page.hits && isUndated(page)) return countHits(page.hits);
        return counts(filterOf(page), page, { accountId: tenant.accountId, ids: page.hits?.ids, kinds });
      }),

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
      const condition = changes === null ? sql`TRUE` : differsBy(table, name, changes);
      return insertEvent(tenant, entry, {
        from: sql`${table}`,
        where: sql`${isIt(tenant, entry.roomId)} AND (${condition})`,
        subject: rowAsJson(table, name, shown),
      });
    },

    /** Deletes the row and its memberships. Returns the ID if it existed. */
    remove: (tenant: Tenant, id: string): Statement<{ id: string }> =>
      statement(build.delete(table).where(isIt(tenant, id)).returning({ id: table.id })),
  };
}

export const IDENTITIES = rowsOf<IdentityRow>(identities, countIdentities);

export const insertIdentity = insertionInto(identities);

/** The identity's users by room, in this one or behind it, if that is not deleted. */
export const selectUsersByRoom = (
  { accountId }: Tenant,
  identityId: string,
  roomId: string,
  limit: number,
  withRoom: boolean,
): Statement<{ id: string; roomId: string }> => statement`SELECT users.id, users.room_id AS "roomId"
    FROM users
      JOIN rooms ON rooms.account_id = users.account_id AND rooms.id = users.room_id AND rooms.deleted_at IS NULL
    WHERE users.account_id = ${accountId} AND users.identity_id = ${identityId}
      AND users.room_id ${withRoom ? sql`>=` : sql`>`} ${roomId} ORDER BY users.room_id LIMIT ${limit}`;

/** The identities with these IDs, in no order. */
export const selectIdentities = ({ accountId }: Tenant, ids: readonly string[]): Statement<IdentityRow> =>
  statement(
    build
      .select(columnsOf(identities))
      .from(identities)
      .where(and(eq(identities.accountId, accountId), sql`${identities.id} IN ${listed(ids)}`)),
  );

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

const purge =
  (table: "room_access" | "group_members" | "identity_groups" | "room_links") =>
  ({ accountId }: Tenant, limit: number): Statement<{ deleted: number }> =>
    statement`DELETE FROM ${sql.identifier(table)} WHERE rowid IN (SELECT rowid FROM ${sql.identifier(table)}
        WHERE account_id = ${accountId} LIMIT ${limit})
        RETURNING 1 AS deleted`;

/** Statements that delete up to `limit` rows of an organization, referring rows first. */
export const PURGES = {
  beforeIdentities: [purge("room_access"), purge("group_members"), purge("identity_groups")],
  afterIdentities: [purge("room_links")],
} as const;

export const selectSomeIdentities = ({ accountId }: Tenant, limit: number): Statement<{ id: string }> =>
  statement`SELECT id FROM identities WHERE account_id = ${accountId} ORDER BY id LIMIT ${limit}`;

export const deleteIdentities = ({ accountId }: Tenant, ids: readonly string[]): Statement<never> =>
  statement`DELETE FROM identities WHERE account_id = ${accountId} AND id IN ${listed(ids)}`;
