/** The tables of D1 with an organization's rows, their key, and the order of copying. */

/** A part of a table that belongs to organizations. */
export interface OrganizationTable {
  readonly name: string;
  /** The condition for the rows of one organization; its ID is each of the `params`. */
  readonly where: string;
  readonly paramsOf: (accountId: string) => readonly string[];
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
  { order = primaryKey.filter((column) => column !== "account_id"), and = "", atOnce = SMALL } = {},
): OrganizationTable {
  return {
    name,
    where: `account_id = ?${and}`,
    paramsOf: (accountId) => [accountId],
    primaryKey,
    order: order.map((term) => ({
      column: term.replace(/ DESC$/, ""),
      isDescending: term.endsWith(" DESC"),
    })),
    atOnce,
  };
}

/**
 * Everything that an organization owns in D1 beside its row in `accounts`, what is referred to before what refers to it.
 * Rows that triggers derive (quotas, counters, search indexes) are not listed: the triggers derive them again.
 */
export const ORGANIZATION_TABLES: readonly OrganizationTable[] = [
  organizationTable("rooms", ["account_id", "id"]),
  organizationTable("users", ["id"], { order: ["room_id", "created_at DESC", "id DESC"] }),
  organizationTable("files", ["key"], {
    order: ["room_id", "uploaded_at DESC", "key DESC"],
    and: " AND state = 'stored'",
  }),
  organizationTable("files", ["key"], {
    order: ["state", "uploaded_at", "key"],
    and: " AND state <> 'stored'",
  }),
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
    where: "scope >= ? AND scope < ? || ';'",
    paramsOf: (accountId) => [accountId, accountId],
  },
];
