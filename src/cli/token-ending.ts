/** Ends the tokens of an organization's users, directly in the database: for the operator, who needs no key of it. */
import type { RoomCommand } from "../realtime/port/room-command.ts";
import { insertOperatorEntry } from "./audit-store.ts";
import { type Database, executeOnTables, quoteSql } from "./database.ts";
import { placeOf } from "./organization.ts";
import { CommandError } from "./process/command.ts";

const ENDED: RoomCommand = { type: "tokens.ended", userId: null };

/**
 * Begins a new token epoch of the organization, and notifies its rooms that have users online, whose sockets close within
 * about a minute. Returns how many these are.
 */
export async function endTokens(database: Database, accountId: string, stop: AbortSignal): Promise<number> {
  const [id, command, now] = [quoteSql(accountId), quoteSql(JSON.stringify(ENDED)), Date.now()];
  const [accounts = [], rooms = []] = await executeOnTables(
    await placeOf(database, accountId, stop),
    [
      `UPDATE accounts SET token_epoch = max(token_epoch + 1, ${now}) WHERE id = ${id} RETURNING id`,
      `INSERT INTO outbox (id, account_id, room_id, change, created_at)
       SELECT lower(hex(randomblob(16))), account_id, id, ${command}, ${now} FROM rooms
       WHERE account_id = ${id} AND active_participants > 0 RETURNING id`,
      insertOperatorEntry(accountId, "endAllTokens", "tokens", {}),
    ],
    stop,
  );
  if (accounts.length === 0)
    throw new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);
  return rooms.length;
}
