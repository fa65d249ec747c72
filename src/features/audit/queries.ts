/** Reads the audit log, and deletes that of an organization. */

import { type AuditFilter, deleteSomeAuditEntries, selectAuditEntries } from "../../http/audit/store.ts";
import type { AuditRow } from "../../http/audit/table.ts";
import { encodePosition } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import type { PlacedTenant } from "../../platform/d1/databases.ts";
import { deleteInChunks } from "../../platform/d1/expiry.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { presentAuditEntry } from "./present.ts";

/** A page of the organization's log, newest first, for its owners. The log is never counted: it grows without end. */
export async function listAuditEntries(ctx: RequestContext, page: Page, filter: AuditFilter) {
  return readAuditEntries(ctx, page, filter);
}

/** The same for those whose own entries they are. */
export async function readAuditEntries(tenant: PlacedTenant, page: Page, filter: AuditFilter) {
  const select = selectAuditEntries(tenant, { ...page, limit: page.limit + 1 }, filter);
  // The directory records changes of members and keys, with the change.
  const databases = new Set([tenant.db, tenant.directory]);
  const found = await Promise.all([...databases].map((db) => db.run([select])));
  const rows =
    found.length === 1 ? found.flatMap(([own]) => own) : mergeNewest(found.flatMap(([own]) => own));
  const shown = rows.slice(0, page.limit);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const cursor = last && encodePosition({ key: last.at, id: last.id, offset: 0, total: 0 });
  return { entries: shown.map(presentAuditEntry), cursor: cursor ?? null };
}

const mergeNewest = (rows: readonly AuditRow[]): AuditRow[] =>
  [...new Map(rows.map((row) => [row.id, row])).values()].sort(
    (a, b) => b.at - a.at || (a.id < b.id ? 1 : -1),
  );

/** Deletes the entries of a deleted organization until none is left (true) or the budget is spent. */
export const purgeAuditEntries = (tenant: Tenant, budget: WorkBudget): Promise<boolean> =>
  deleteInChunks(tenant.db, (limit) => deleteSomeAuditEntries(tenant, limit), budget);
