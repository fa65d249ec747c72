/** The statements about quotas, which other features include in their batches. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, prepared, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { CounterName, QuotaName } from "../../wire/quota.ts";
import { backlogs, quotas } from "./table.ts";

/** An SQL value: how much a batch is going to add, or NULL for nothing. */
export type Upcoming = Pick<Statement, "sql" | "params">;

const NOTHING: Upcoming = { sql: "0", params: [] };

/** Fails the batch behind it above the limit, with `upcoming`: the use becomes NULL, as {@link QUOTA_EXCEEDED} says. */
export const requireWithinQuota = (
  { accountId }: Tenant,
  quota: QuotaName,
  defaultLimit: number,
  upcoming: Upcoming = NOTHING,
): Statement => ({
  sql: `UPDATE quotas SET used = NULL WHERE account_id = ? AND quota = ? AND used + ${upcoming.sql} > coalesce(max, ?)`,
  params: [accountId, quota, ...upcoming.params, defaultLimit],
});

/** The constraint that a batch with {@link requireWithinQuota} violates when it fails. */
export const QUOTA_EXCEEDED = "required:quotas.used";

const { quota, used, max } = columnsOf(quotas);
const quotasOfAccount = prepared(() =>
  build
    .select({ quota, used, max })
    .from(quotas)
    .where(eq(quotas.accountId, sql.placeholder("accountId"))),
);

const usedOf = prepared(() =>
  build
    .select({ total: sql<number>`${quotas.used}`.as("total") })
    .from(quotas)
    .where(
      and(eq(quotas.accountId, sql.placeholder("accountId")), eq(quotas.quota, sql.placeholder("quota"))),
    ),
);

/** The organization's use of a quota, without a count of rows. */
export const countUsed = ({ accountId }: Tenant, quota: CounterName): Statement<{ total: number }> =>
  usedOf({ accountId, quota });

/** The use of both quotas that identities count for. */
export const countIdentities = ({ accountId }: Tenant): Statement<{ total: number }> => ({
  sql: "SELECT sum(used) AS total FROM quotas WHERE account_id = ? AND quota IN ('identities', 'guests')",
  params: [accountId],
});

/** The count of a quota, or beside quotas; `max` is null for the deployment's default. */
export interface QuotaRow {
  readonly quota: CounterName;
  readonly used: number;
  readonly max: number | null;
}

/** Writes the rate of an organization's requests, where the quotas show it, unless it is the same. */
export const setRate = ({ accountId }: Tenant, perSecond: number): Statement => ({
  sql: "UPDATE quotas SET used = ?1 WHERE account_id = ?2 AND quota = 'requests_per_second' AND used <> ?1",
  params: [perSecond, accountId],
});

/** All counts of an organization, with the limits that the operator has set for it. */
export const selectQuotas = ({ accountId }: Tenant): Statement<QuotaRow> => quotasOfAccount({ accountId });

/** Notes what waits for a webhook or workflow, unless it is deleted. */
export const upsertBacklog = (
  { accountId }: Tenant,
  subscriberId: string,
  { events, bytes }: { readonly events: number; readonly bytes: number },
): Statement => ({
  sql: `INSERT INTO backlogs (account_id, subscriber_id, events, bytes)
        SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM webhooks WHERE account_id = ?1 AND id = ?2)
          OR EXISTS (SELECT 1 FROM workflows WHERE account_id = ?1 AND id = ?2)
        ON CONFLICT (account_id, subscriber_id) DO UPDATE SET events = excluded.events, bytes = excluded.bytes`,
  params: [accountId, subscriberId, events, bytes],
});

export const deleteBacklog = ({ accountId }: Tenant, subscriberId: string): Statement =>
  statement(
    build
      .delete(backlogs)
      .where(and(eq(backlogs.accountId, accountId), eq(backlogs.subscriberId, subscriberId))),
  );
