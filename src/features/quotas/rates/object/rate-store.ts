/** The SQL about the rate of an organization's requests, among its quotas. */
import type { Statement, Tenant } from "../../../../platform/d1/d1.ts";

/** Notes the rate for those who look at the quotas. One that is the same is not written. */
export const setRate = ({ accountId }: Tenant, perSecond: number): Statement => ({
  sql: "UPDATE quotas SET used = ?1 WHERE account_id = ?2 AND quota = 'requests_per_second' AND used <> ?1",
  params: [perSecond, accountId],
});
