/** The only SQL about the audit log. */
import { and, eq, sql } from "drizzle-orm";
import { columnsOf, FENCED, type Page, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { ordering } from "../../platform/d1/ordering.ts";
import { type AuditRow, auditEntries } from "./table.ts";

export const insertAuditEntry = (accountId: string, entry: AuditRow, inDirectory: boolean): Statement => ({
  sql: `INSERT INTO audit_entries (id, account_id, at, actor_type, actor_id, actor_name, operation, resource,
          resource_id, changes, address, request_id, in_directory, changes_before)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, total_changes())`,
  params: [
    ...[entry.id, accountId, entry.at, entry.actorType, entry.actorId, entry.actorName],
    ...[entry.operation, entry.resource, entry.resourceId, entry.changes, entry.address, entry.requestId],
    Number(inDirectory),
  ],
});

/** Deletes an entry of this batch, and returns a row, if no statement since has changed anything. */
export const dropIfUnchanged = (id: string): Statement<{ id: string }> => ({
  // The entry itself is the one change.
  sql: "DELETE FROM audit_entries WHERE id = ? AND total_changes() = changes_before + 1 RETURNING id",
  params: [id],
});

export interface AuditFilter {
  readonly actorId?: string | undefined;
  readonly operation?: string | undefined;
  readonly resource?: AuditRow["resource"] | undefined;
  readonly resourceId?: string | undefined;
}

const FILTERS = ["actorId", "operation", "resource", "resourceId"] as const;
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
  table: "audit_entries",
  column: "at",
  and: `(in_directory = 1 OR account_id NOT IN ${FENCED})`,
};

/** Deletes some of the organization's entries, and returns a row for each. */
export const deleteSomeAuditEntries = (
  { accountId }: Tenant,
  limit: number,
): Statement<{ deleted: number }> => ({
  sql: `DELETE FROM audit_entries WHERE rowid IN (
          SELECT rowid FROM audit_entries WHERE account_id = ? LIMIT ?
        ) RETURNING 1 AS deleted`,
  params: [accountId, limit],
});
