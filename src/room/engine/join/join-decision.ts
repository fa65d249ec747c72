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
