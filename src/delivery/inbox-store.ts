/** The only SQL about the shards of inboxes. */
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import { INBOX_SHARDS } from "../wire/inbox.ts";

/** The shards of inboxes that have identities. */
export const selectInboxShards = ({
  accountId,
}: Pick<Tenant, "accountId">): Statement<{ shard: string }> => ({
  sql: `SELECT shards.value AS shard FROM json_each(?) AS shards WHERE EXISTS (
          SELECT 1 FROM identities
          WHERE account_id = ? AND id > shards.value AND id < shards.value || 'g')`,
  params: [JSON.stringify(INBOX_SHARDS), accountId],
});
