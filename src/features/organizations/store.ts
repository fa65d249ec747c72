/** The only SQL about organizations themselves. */
import { and, eq, isNull, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { accounts } from "../../platform/d1/table.ts";

export type OrganizationRow = Pick<typeof accounts.$inferSelect, "id" | "name" | "createdAt">;

const { id, name, createdAt } = columnsOf(accounts);
const FIELDS = { id, name, createdAt };
const isLive = ({ accountId }: Tenant) => and(eq(accounts.id, accountId), isNull(accounts.deletedAt));

export const selectOrganization = (tenant: Tenant): Statement<OrganizationRow> =>
  statement(build.select(FIELDS).from(accounts).where(isLive(tenant)));

export const updateOrganization = (tenant: Tenant, name: string): Statement<OrganizationRow> =>
  statement(build.update(accounts).set({ name }).where(isLive(tenant)).returning(FIELDS));

/** Marks the organization as deleted: its data is being deleted from then on. */
export const markDeleted = (tenant: Tenant, now: number): Statement =>
  statement(build.update(accounts).set({ deletedAt: now }).where(isLive(tenant)));

/** Organizations that were deleted and still have a row, in the order of their IDs: those from `firstId` on, then others. */
export const selectDeleted = (firstId: string, limit: number): Statement<{ id: string }> =>
  statement(
    build
      .select({ id: accounts.id })
      .from(accounts)
      .where(sql`${accounts.deletedAt} IS NOT NULL`)
      .orderBy(sql`${accounts.id} < ${firstId}`, accounts.id)
      .limit(limit),
  );

/** A row if the organization was deleted before `before` (epoch ms). */
export const selectDeletedBefore = (accountId: string, before: number): Statement<{ id: string }> =>
  statement`SELECT id FROM accounts WHERE id = ${accountId} AND deleted_at < ${before}`;

/** Deletes the row of an organization that was deleted before `before` (epoch ms) and owns nothing any more. */
export const deleteEmpty = (
  accountId: string,
  before: number,
): Statement => statement`DELETE FROM accounts WHERE id = ${accountId} AND deleted_at < ${before}
    AND NOT EXISTS (SELECT 1 FROM rooms WHERE account_id = accounts.id)
    AND NOT EXISTS (SELECT 1 FROM webhooks WHERE account_id = accounts.id)
    AND NOT EXISTS (SELECT 1 FROM workflows WHERE account_id = accounts.id)
    AND NOT EXISTS (SELECT 1 FROM moves WHERE account_id = accounts.id)`;
