/** Whether a socket may join: an approval with the user and the room, or a refusal with its reason. */
import type { RoomFields } from "../../../wire/room.ts";
import type { TokenEpochs } from "../../../wire/token-claims.ts";
import type { Role, UserRecord } from "../../../wire/user.ts";
import type { Fault } from "../../protocol/protocol.ts";

export type JoinDecision = JoinApproval | JoinRefusal;

export interface JoinApproval {
  readonly approved: true;
  readonly room: RoomFields;
  readonly user: UserRecord;
  /** The highest role that the token allows. */
  readonly ceiling: Role;
  /** Epoch milliseconds. */
  readonly tokenExpiresAt: number;
  /** The token's epochs; absent while both are 0. */
  readonly tokenEpochs?: TokenEpochs;
}

export interface JoinRefusal extends Fault {
  readonly approved: false;
  /** True when the token is the cause: the client receives `authFailed`. */
  readonly authFailed: boolean;
}

export const joinRefusal = (
  module: Fault["module"],
  code: Fault["code"],
  message: string,
  authFailed = false,
): JoinRefusal => ({ approved: false, module, code, message, authFailed });

export const JOIN_FAILED = joinRefusal("Server", "INTERNAL_ERROR", "Joining failed: try again");

export const INVALID_TOKEN = joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
export const ANOTHER_ROOM = joinRefusal("Auth", "FORBIDDEN", "The token is for another room", true);
export const ROOM_GONE = joinRefusal("Rooms", "NOT_FOUND", "Room not found");
export const ROOM_CLOSED = joinRefusal("Rooms", "FORBIDDEN", "The room is closed");
export const TOO_MANY_JOINS = joinRefusal(
  "Rooms",
  "RATE_LIMITED",
  "This user has joined too often, or was disconnected for sending too much; wait and retry",
);
export const SOCKET_GONE = joinRefusal("Rooms", "BAD_REQUEST", "The socket is closed");

/** A room without its lost users holds joins so long: not all rooms read in the same second. `random` is in [0, 1). */
export const joinsHeldMs = (graceMs: number, random: number): number => graceMs * (0.1 + random / 2);

/** The delay of a refusal: each new attempt costs a handshake, and all sockets of a flood come back at once. */
export const joinRefusedAfterMs = (random: number): number => 2_000 + 2_000 * random;

/** Waiting joins are read together, by short reads: requests of other rooms wait behind one of them only. */
export const JOIN_READS = { waitsPerRead: 50 } as const;
