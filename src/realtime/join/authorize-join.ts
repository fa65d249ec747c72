/** Who may join: a token's signature and claims, then its user and room as the database has them now. */

import { type Env, jwtSecrets } from "../../config.ts";
import { openTenant } from "../../platform/d1.ts";
import { logFailure } from "../../platform/log.ts";
import { updateFirstJoin } from "../../rooms/commands.ts";
import { recordOf } from "../../users/schema.ts";
import { findAdmission } from "../../users/token-bearer.ts";
import { isTokenOf, tokensFor } from "../../users/tokens.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { refusal, type Verdict } from "../transport/effects.ts";

const INVALID_TOKEN = refusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
const ANOTHER_ROOM = refusal("Auth", "FORBIDDEN", "The token is for another room", true);
const ROOM_GONE = refusal("Rooms", "NOT_FOUND", "Room not found");
const ROOM_CLOSED = refusal("Rooms", "FORBIDDEN", "The room is closed");
const FAILED = refusal("Server", "INTERNAL_ERROR", "Joining failed, please try again");

/** Judges a request to join, the first one of the room if `isFirst`. Never rejects: what fails unforeseen is logged and refused. */
export async function admit(
  env: Env,
  identity: RoomIdentity,
  token: string,
  now: number,
  isFirst: boolean,
): Promise<Verdict> {
  try {
    return await judge(env, identity, token, now, isFirst);
  } catch (error) {
    logFailure(`a request to join room ${identity.roomId} could not be judged`, error);
    return FAILED;
  }
}

async function judge(
  env: Env,
  { accountId, roomId }: RoomIdentity,
  token: string,
  now: number,
  isFirst: boolean,
): Promise<Verdict> {
  const claims = await tokensFor(jwtSecrets(env)).verify(token, now);
  if (claims === null) return INVALID_TOKEN;
  if (claims.accountId !== accountId || claims.roomId !== roomId) return ANOTHER_ROOM;
  const tenant = openTenant(env.DB, accountId);
  // From the very batch that lets the first user in, changes over REST are told to the room.
  const first = isFirst ? [updateFirstJoin(tenant, roomId, now)] : [];
  const { room, user } = await findAdmission(tenant, roomId, claims.userId, first);
  if (room === null) return ROOM_GONE;
  if (user === null || !isTokenOf(claims, user)) return INVALID_TOKEN;
  if (room.state === "closed") return ROOM_CLOSED;
  return { admitted: true, room, user: recordOf(user), tokenExpiresAt: claims.exp * 1000 };
}
