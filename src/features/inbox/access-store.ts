/** The SQL that decides which items of an inbox are shown now: the identity's tokens, and its access to rooms. */
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { accessAsJson } from "../access/statements.ts";
import { IS_LIVE } from "../rooms/table.ts";

export interface IdentityEpochs {
  readonly identity: number;
  readonly account: number;
}

/** No row without the identity. */
export const selectEpochs = ({ accountId }: Tenant, identityId: string): Statement<IdentityEpochs> => ({
  sql: `SELECT identities.token_epoch AS identity, accounts.token_epoch AS account
        FROM identities JOIN accounts ON accounts.id = identities.account_id
        WHERE identities.account_id = ? AND identities.id = ?`,
  params: [accountId, identityId],
});

interface RoomAccessRow {
  readonly id: string;
  readonly customId: string | null;
  /** As JSON. */
  readonly access: string;
}

/** The identity's access to those of these rooms that exist. */
export const selectAccessToRooms = (
  { accountId }: Tenant,
  identityId: string,
  roomIds: readonly string[],
): Statement<RoomAccessRow> => ({
  sql: `SELECT rooms.id, rooms.custom_id AS customId, ${accessAsJson("?1", "rooms.id", "?2")} AS access
        FROM json_each(?3) AS asked CROSS JOIN rooms
        WHERE rooms.account_id = ?1 AND rooms.id = asked.value AND ${IS_LIVE}`,
  params: [accountId, identityId, JSON.stringify(roomIds)],
});
