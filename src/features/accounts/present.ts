/** API keys as they are presented. */

import type { ApiKey } from "@atrium/contract/rest/api-keys.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import { narrowingOf } from "../../platform/narrowing.ts";
import type { ApiKeyRow } from "./table.ts";

export const presentKey = (row: ApiKeyRow): ApiKey => {
  const { permissions = null, rooms = null } = narrowingOf(row);
  return {
    id: row.id,
    account_id: row.accountId,
    name: row.name,
    prefix: row.prefix,
    last_four: row.lastFour,
    created_at: presentTime(row.createdAt),
    last_used_at: presentNullableTime(row.lastUsedAt),
    created_by_key: row.createdByKey,
    permissions,
    rooms,
  };
};
