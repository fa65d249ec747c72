/** The tables of D1 with an organization's rows, their key, and the order of copying. */

import { type SQL, sql } from "drizzle-orm";

/** A part of a table that belongs to organizations. */
export interface OrganizationTable {
  readonly name: string;
  /** The condition for the rows of one organization. */
  readonly where: (accountId: string) => SQL;
  /** The key of a row. */
  readonly primaryKey: readonly string[];
  /** A unique order by an index behind the condition, so that each slice costs as much as the first. */
  readonly order: readonly { readonly column: string; readonly isDescending: boolean }[];
  /** Rows in a slice: fewer where each can be large. */
  readonly atOnce: number;
}

const SMALL = 200;
const LARGE = 5;

/** `created_at DESC` counts down. */
export function organizationTable(
  name: string,
  primaryKey: readonly string[],
  { order = primaryKey.filter((column) => column !== "account_id"), atOnce = SMALL } = {},
): OrganizationTable {
  return {
    name,
    where: (accountId) => sql`account_id = ${accountId}`,
    primaryKey,
    order: order.map((term) => ({
      column: term.replace(/ DESC$/, ""),
      isDescending: term.endsWith(" DESC"),
    })),
    atOnce,
  };
}

/** The part of a table whose rows fulfil the condition. */
const withCondition = (table: OrganizationTable, and: SQL): OrganizationTable => ({
  ...table,
  where: (accountId) => sql`${table.where(accountId)} AND ${and}`,
});

/** The rows that a table has for the directory, where a database has rows for itself as well. */
export const ofDirectory = (table: OrganizationTable): OrganizationTable =>
  withCondition(table, sql`in_directory = 1`);

/** The other rows of such a table. */
export const beyondDirectory = (table: OrganizationTable): OrganizationTable =>
  withCondition(table, sql`in_directory = 0`);

/**
 * Tables of an organization in D1 beside its row in `accounts`, referred-to tables before referring ones. Rows
 * that triggers derive (quotas, counters, search indexes) are left out, as the triggers derive them again.
 */
export const ORGANIZATION_TABLES: readonly OrganizationTable[] = [
  organizationTable("rooms", ["account_id", "id"]),
  organizationTable("users", ["id"], { order: ["room_id", "created_at DESC", "id DESC"] }),
  withCondition(
    organizationTable("files", ["key"], { order: ["room_id", "uploaded_at DESC", "key DESC"] }),
    sql`state = 'stored'`,
  ),
  withCondition(
    organizationTable("files", ["key"], { order: ["state", "uploaded_at", "key"] }),
    sql`state <> 'stored'`,
  ),
  organizationTable("room_links", ["account_id", "id"]),
  organizationTable("identities", ["account_id", "id"]),
  organizationTable("identity_groups", ["account_id", "id"]),
  organizationTable("group_members", ["account_id", "group_id", "identity_id"]),
  organizationTable("room_access", ["account_id", "room_id", "kind", "subject_id"]),
  organizationTable("access_defaults", ["account_id"], { order: ["account_id"] }),
  organizationTable("notification_defaults", ["account_id"], { order: ["account_id"] }),
  organizationTable("webhooks", ["account_id", "id"]),
  organizationTable("workflows", ["account_id", "id"], { atOnce: LARGE }),
  organizationTable("workflow_versions", ["account_id", "workflow_id", "version"], { atOnce: LARGE }),
  organizationTable("workflow_secrets", ["account_id", "workflow_id", "name"]),
  organizationTable("backlogs", ["account_id", "subscriber_id"]),
  organizationTable("retired_scripts", ["account_id", "workflow_id", "hash"]),
  organizationTable("outbox", ["id"], { order: ["created_at", "id"] }),
  organizationTable("outbox_events", ["id"], { order: ["occurred_at", "id"] }),
  organizationTable("audit_entries", ["id"], { order: ["at DESC", "id DESC"] }),
  {
    ...organizationTable("receipts", ["scope", "key"], { atOnce: 50 }),
    where: (accountId) => sql`scope >= ${accountId} AND scope < ${accountId} || ';'`,
  },
];
