/** Decides who may join: verifies the token, then reads its user and room from the database. */
import { type Env, jwtSecrets } from "../../config.ts";
import { openTenant } from "../../platform/d1.ts";
import { logError } from "../../platform/log.ts";
import { updateFirstJoin } from "../../rooms/shared-store.ts";
import { recordOf } from "../../users/schema.ts";
import { findTokenBearer } from "../../users/token-bearer.ts";
import { isTokenOf, tokensFor } from "../../users/tokens.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { JOIN_FAILED, type JoinDecision, joinRefusal } from "./join-decision.ts";

const INVALID_TOKEN = joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
const ANOTHER_ROOM = joinRefusal("Auth", "FORBIDDEN", "The token is for another room", true);
const ROOM_GONE = joinRefusal("Rooms", "NOT_FOUND", "Room not found");
const ROOM_CLOSED = joinRefusal("Rooms", "FORBIDDEN", "The room is closed");

/**
 * Decides on a request to join at `now` (epoch ms). `isFirst` marks the room as used when no one has joined it
 * before. Never rejects: an unexpected failure is logged and becomes a refusal.
 */
export async function authorizeJoin(
  env: Env,
  identity: RoomIdentity,
  token: string,
  now: number,
  isFirst: boolean,
): Promise<JoinDecision> {
  try {
    return await decide(env, identity, token, now, isFirst);
  } catch (error) {
    logError("A join could not be authorized", { account: identity.accountId, room: identity.roomId }, error);
    return JOIN_FAILED;
  }
}

async function decide(
  env: Env,
  { accountId, roomId }: RoomIdentity,
  token: string,
  now: number,
  isFirst: boolean,
): Promise<JoinDecision> {
  const claims = await tokensFor(jwtSecrets(env)).verify(token, now);
  if (claims === null) return INVALID_TOKEN;
  if (claims.accountId !== accountId || claims.roomId !== roomId) return ANOTHER_ROOM;
  const tenant = openTenant(env.DB, accountId);
  // In the batch that lets the first user in: from then on, changes over REST are relayed to the room.
  const first = isFirst ? [updateFirstJoin(tenant, roomId, now)] : [];
  const { room, user } = await findTokenBearer(tenant, roomId, claims.userId, first);
  if (room === null) return ROOM_GONE;
  if (user === null || !isTokenOf(claims, user)) return INVALID_TOKEN;
  if (room.state === "closed") return ROOM_CLOSED;
  const { role, exp, userEpoch, accountEpoch } = claims;
  return {
    approved: true,
    room,
    user: recordOf(user),
    role,
    tokenExpiresAt: exp * 1000,
    ...((userEpoch > 0 || accountEpoch > 0) && { tokenEpochs: { user: userEpoch, account: accountEpoch } }),
  };
}
