/** Decides who may join: verifies the token, then reads its user and room from the database. */
import { type Env, jwtSecrets, quotaDefaults } from "../../config.ts";
import { logError } from "../../platform/log.ts";
import { usedOf } from "../../quotas/queries.ts";
import { describeExceeded } from "../../quotas/quota.ts";
import { recordOf } from "../../users/present.ts";
import { isTokenOf, type TokenClaims } from "../../users/token-claims.ts";
import { tokensFor } from "../../users/tokens.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { JOIN_FAILED, type JoinDecision, type JoinRefusal, joinRefusal } from "./join-decision.ts";
import type { Joiner } from "./joiners.ts";

const INVALID_TOKEN = joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
const ANOTHER_ROOM = joinRefusal("Auth", "FORBIDDEN", "The token is for another room", true);
const ROOM_GONE = joinRefusal("Rooms", "NOT_FOUND", "Room not found");
const ROOM_CLOSED = joinRefusal("Rooms", "FORBIDDEN", "The room is closed");

/** A request to join, and when its database read may run. */
interface JoinAttempt {
  readonly identity: RoomIdentity;
  readonly token: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether the user is online in the room, or was a few minutes ago: the quota of users online counts them already. */
  wasOnlineLately(userId: string): boolean;
  /** Reads the user when it is their turn, unless the join is refused without. */
  read(userId: string): Promise<Joiner | JoinRefusal>;
}

/** Decides on a request to join. Never rejects: an unexpected failure is logged and becomes a refusal. */
export async function authorizeJoin(env: Env, attempt: JoinAttempt): Promise<JoinDecision> {
  const { accountId, roomId } = attempt.identity;
  try {
    const claims = await tokensFor(jwtSecrets(env)).verify(attempt.token, attempt.now);
    if (claims === null) return INVALID_TOKEN;
    if (claims.accountId !== accountId || claims.roomId !== roomId) return ANOTHER_ROOM;
    const joiner = await attempt.read(claims.userId);
    return "approved" in joiner ? joiner : decide(env, attempt, claims, joiner);
  } catch (error) {
    logError("A join could not be authorized", { account: accountId, room: roomId }, error);
    return JOIN_FAILED;
  }
}

function decide(
  env: Env,
  { wasOnlineLately }: JoinAttempt,
  claims: TokenClaims,
  { room, user, quotas }: Joiner,
): JoinDecision {
  if (room === null) return ROOM_GONE;
  if (user === null || !isTokenOf(claims, user)) return INVALID_TOKEN;
  if (room.state === "closed") return ROOM_CLOSED;
  const online = usedOf(quotas, "online_users", quotaDefaults(env));
  if (online.used >= online.limit && !wasOnlineLately(user.id))
    return joinRefusal("Accounts", "FORBIDDEN", describeExceeded(online));
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
