/** The only SQL about the audit log. */
import { and, eq, sql } from "drizzle-orm";
import {
  columnsOf,
  FENCED,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { ordering } from "../../platform/d1/ordering.ts";
import { type AuditRow, auditEntries } from "./table.ts";

export const insertAuditEntry = (accountId: string, entry: AuditRow, inDirectory: boolean): Statement => {
  const actor = sql`${entry.actorType}, ${entry.actorId}, ${entry.actorName}`;
  const subject = sql`${entry.resource}, ${entry.resourceId}, ${entry.changes}`;
  return statement`INSERT INTO audit_entries (id, account_id, at, actor_type, actor_id, actor_name, operation,
        resource, resource_id, changes, address, request_id, in_directory, changes_before)
      VALUES (${entry.id}, ${accountId}, ${entry.at}, ${actor}, ${entry.operation}, ${subject}, ${entry.address},
        ${entry.requestId}, ${Number(inDirectory)}, total_changes())`;
};

/** Deletes an entry of this batch, and returns a row, if no statement since has changed anything. */
export const dropIfUnchanged = (id: string): Statement<{ id: string }> =>
  statement`DELETE FROM audit_entries WHERE id = ${id} AND total_changes() = changes_before + 1 RETURNING id`;

const FILTERS = ["actorId", "operation", "resource", "resourceId"] as const;
export type AuditFilter = {
  readonly [Name in (typeof FILTERS)[number]]?: AuditRow[Name] | undefined;
};

const order = ordering({ table: auditEntries, by: {}, time: "at", id: "id" });
const { accountId: _, changesBefore: __, inDirectory: ___, ...COLUMNS } = columnsOf(auditEntries);

const entryPage = order.pages(COLUMNS, (names: string, placed) =>
  and(
    eq(auditEntries.accountId, sql.placeholder("accountId")),
    ...FILTERS.filter((name) => names.split(" ").includes(name)).map((name) =>
      eq(auditEntries[name], sql.placeholder(name)),
    ),
    placed,
  ),
);

export const selectAuditEntries = (
  { accountId }: Tenant,
  page: Page,
  filter: AuditFilter,
): Statement<AuditRow> =>
  entryPage(FILTERS.filter((name) => filter[name] !== undefined).join(" "), page, { ...filter, accountId });

export const AUDIT_ENTRIES: Expiring = {
  table: auditEntries,
  column: auditEntries.at,
  and: sql`(in_directory = 1 OR account_id NOT IN ${FENCED})`,
};

/** Deletes some of the organization's entries, and returns a row for each. */
export const deleteSomeAuditEntries = (
  { accountId }: Tenant,
  limit: number,
): Statement<{ deleted: number }> => statement`DELETE FROM audit_entries WHERE rowid IN (
      SELECT rowid FROM audit_entries WHERE account_id = ${accountId} LIMIT ${limit}
    ) RETURNING 1 AS deleted`;
