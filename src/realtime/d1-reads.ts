/** What a room's object reads from the database for its members: the room and its users as they are now. */

import type { Env } from "../config.ts";
import { openTenant } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { findRoomRow } from "../rooms/queries.ts";
import type { RoomRow } from "../rooms/table.ts";
import { findUsers } from "../users/queries.ts";
import { recordOf, type UserRecord } from "../users/schema.ts";
import { findTokenBearer } from "../users/token-bearer.ts";
import type { QueryResult } from "./room.ts";
import type { RoomIdentity } from "./storage/storage.ts";
import type { DatabaseQuery } from "./transport/effects.ts";

/** A user and its room; null for what was deleted meanwhile. */
export async function readUser(
  env: Env,
  { accountId, roomId }: RoomIdentity,
  userId: string,
): Promise<{ readonly user: UserRecord | null; readonly room: RoomRow | null }> {
  const { user, room } = await findTokenBearer(openTenant(env.DB, accountId), roomId, userId);
  return { user: user === null ? null : recordOf(user), room };
}

/** Null for a room that was deleted meanwhile. */
export const readRoom = (env: Env, { accountId, roomId }: RoomIdentity): Promise<RoomRow | null> =>
  findRoomRow(openTenant(env.DB, accountId), { id: roomId });

/** Null when the database failed, or the room is gone. */
export async function runQuery(
  env: Env,
  identity: RoomIdentity,
  query: DatabaseQuery,
): Promise<QueryResult | null> {
  try {
    if (query.type === "ROOM_GET") {
      const room = await readRoom(env, identity);
      return room === null ? null : { room };
    }
    const page = { ...query.data, search: "", from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };
    const { users, total } = await findUsers(openTenant(env.DB, identity.accountId), identity.roomId, page);
    return { users: users.map(recordOf), total };
  } catch (error) {
    logError(
      "The database could not be read for a room",
      { account: identity.accountId, room: identity.roomId },
      error,
    );
    return null;
  }
}
