/** Links of rooms as they are presented. */

import type { RoomLink } from "@atrium/contract/rest/identities.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import type { LinkRow } from "./table.ts";

export const presentLink = (row: LinkRow): RoomLink => ({
  id: row.id,
  room_id: row.roomId,
  permissions: JSON.parse(row.permissions),
  created_at: presentTime(row.createdAt),
  expires_at: presentNullableTime(row.expiresAt),
  max_uses: row.maxUses,
  uses: row.uses,
});
