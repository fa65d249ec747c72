/** Ends the tokens of an organization's users, directly in the database: for the operator, who needs no key of it. */

import { insertForOnlineRooms } from "../delivery/outbox/outbox-store.ts";
import { countUsed } from "../features/quotas/statements.ts";
import { endTokensOfAccount } from "../features/users/statements.ts";
import type { Statement } from "../platform/d1/d1.ts";
import type { RoomCommand } from "../room/types/room-object.ts";
import { insertOperatorEntry } from "./audit-store.ts";
import { type Database, databasePort } from "./database.ts";
import { placeOf } from "./organization.ts";
import { CommandError } from "./process/command.ts";

const ENDED: RoomCommand = { type: "tokens.ended", userId: null };

/**
 * Begins a new token epoch of the organization, and notifies its rooms that have users online, whose sockets close within
 * about a minute. Returns how many these are.
 */
export async function endTokens(database: Database, accountId: string, stop: AbortSignal): Promise<number> {
  const db = databasePort(await placeOf(database, accountId, stop), stop);
  const now = Date.now();
  const entry: Statement = { sql: insertOperatorEntry(accountId, "endAllTokens", "tokens", {}), params: [] };
  const [[online]] = await db.run([
    countUsed({ accountId, db }, "online_rooms"),
    endTokensOfAccount({ accountId, db }, now),
    insertForOnlineRooms({ accountId, command: JSON.stringify(ENDED), at: now }),
    entry,
  ]);
  if (online === undefined)
    throw new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);
  return online.total;
}
