/** The SQL about what waits for webhooks and workflows. Triggers sum it up for the quotas. */
import { and, eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { backlogs } from "./table.ts";

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
