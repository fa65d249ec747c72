/** The only SQL about the shards of inboxes. */

import { INBOX_SHARDS } from "@atrium/contract/resources/inbox.ts";
import { type Statement, statement, type Tenant } from "../platform/d1/d1.ts";

/** The shards of inboxes that have identities. */
export const selectInboxShards = ({
  accountId,
}: Pick<Tenant, "accountId">): Statement<{ shard: string }> => statement`SELECT shards.value AS shard
    FROM json_each(${JSON.stringify(INBOX_SHARDS)}) AS shards WHERE EXISTS (
    SELECT 1 FROM identities
    WHERE account_id = ${accountId} AND id > shards.value AND id < shards.value || 'g')`;
