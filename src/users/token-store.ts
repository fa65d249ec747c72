/** The statements that end tokens. */
import { eq } from "drizzle-orm";
import { accounts } from "../accounts/organization/table.ts";
import { build, nextVersion, type Statement, statement, type Tenant } from "../platform/d1.ts";
import type { RoomCommand } from "../realtime/port/room-command.ts";
import { whereIs } from "./store.ts";
import { users } from "./table.ts";

/** Begins a new token epoch of a user. Returns its ID if it exists. */
export const endTokensOfUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  now: number,
): Statement<{ id: string }> =>
  statement(
    build
      .update(users)
      .set({ tokenEpoch: nextVersion(users.tokenEpoch, now) })
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );

/** Begins a new token epoch of an organization. */
export const endTokensOfAccount = ({ accountId }: Tenant, now: number): Statement =>
  statement(
    build
      .update(accounts)
      .set({ tokenEpoch: nextVersion(accounts.tokenEpoch, now) })
      .where(eq(accounts.id, accountId)),
  );

/** Writes an outbox entry with the command for each of the organization's rooms with users online. */
export const insertEntriesForOnlineRooms = (
  { accountId }: Tenant,
  command: RoomCommand,
  now: number,
): Statement<{ id: string; roomId: string }> => ({
  sql: `INSERT INTO outbox (id, account_id, room_id, change, created_at)
        SELECT lower(hex(randomblob(16))), account_id, id, ?, ? FROM rooms
        WHERE account_id = ? AND active_participants > 0
        RETURNING id, room_id AS "roomId"`,
  params: [JSON.stringify(command), now, accountId],
});
