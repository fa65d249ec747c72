/** The statements about quotas, which other features include in their batches. */

import type { CounterName, QuotaName } from "@atrium/contract/resources/quota.ts";
import { and, eq, type SQL, sql } from "drizzle-orm";
import { build, columnsOf, prepared, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { backlogs, quotas } from "./table.ts";

/** The growth that a batch is going to cause: a number, or SQL, which is NULL for nothing. */
export type Upcoming = SQL | number;

/**
 * Fails the batch behind it above the limit: the use becomes NULL, as {@link QUOTA_EXCEEDED} says.
 */
export const requireWithinQuota = (
  { accountId }: Tenant,
  quota: QuotaName,
  defaultLimit: number,
  upcoming: Upcoming = 0,
): Statement =>
  statement`UPDATE quotas SET used = NULL WHERE account_id = ${accountId} AND quota = ${quota}
      AND used + ${upcoming} > coalesce(max, ${defaultLimit})`;

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
export const countIdentities = ({ accountId }: Tenant): Statement<{ total: number }> =>
  statement`SELECT sum(used) AS total FROM quotas
      WHERE account_id = ${accountId} AND quota IN ('identities', 'guests')`;

/** The count of a quota, or beside quotas; `max` is null for the deployment's default. */
export interface QuotaRow {
  readonly quota: CounterName;
  readonly used: number;
  readonly max: number | null;
}

/** Writes the rate of an organization's requests, where the quotas show it, unless it is the same. */
export const setRate = ({ accountId }: Tenant, perSecond: number): Statement =>
  statement`UPDATE quotas SET used = ${perSecond}
      WHERE account_id = ${accountId} AND quota = 'requests_per_second' AND used <> ${perSecond}`;

/** All counts of an organization, with the limits that the operator has set for it. */
export const selectQuotas = ({ accountId }: Tenant): Statement<QuotaRow> => quotasOfAccount({ accountId });

/** Notes what waits for a webhook or workflow, unless it is deleted. */
export const upsertBacklog = (
  { accountId }: Tenant,
  subscriberId: string,
  { events, bytes }: { readonly events: number; readonly bytes: number },
): Statement => statement`INSERT INTO backlogs (account_id, subscriber_id, events, bytes)
    SELECT ${accountId}, ${subscriberId}, ${events}, ${bytes} WHERE EXISTS (SELECT 1 FROM webhooks
      WHERE account_id = ${accountId} AND id = ${subscriberId})
      OR EXISTS (SELECT 1 FROM workflows WHERE account_id = ${accountId} AND id = ${subscriberId})
    ON CONFLICT (account_id, subscriber_id) DO UPDATE SET events = excluded.events, bytes = excluded.bytes`;

export const deleteBacklog = ({ accountId }: Tenant, subscriberId: string): Statement =>
  statement(
    build
      .delete(backlogs)
      .where(and(eq(backlogs.accountId, accountId), eq(backlogs.subscriberId, subscriberId))),
  );
