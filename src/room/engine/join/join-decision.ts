/** The decision about a join: an approval with the user and the room, or a refusal with its reason. */

import type { Rights } from "@atrium/contract/resources/permissions.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { RoomName } from "@atrium/contract/resources/room-name.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";

import type { TokenEpochs, TokenSubject } from "../../../platform/token-claims.ts";
import type { Fault } from "../../protocol/protocol.ts";
import type { Standing } from "../../storage/storage.ts";

/** A user as the database has it. */
export interface KnownUser {
  readonly record: UserRecord;
  /** The columns that decide whether a token is still one of the user's. */
  readonly subject: TokenSubject;
  /** The rights by its role and its identity's access; 0 if it may not enter. */
  readonly rights: Rights;
  readonly isGuest: boolean;
}

/** The part of a user that the room stores, to let it in again after a restart. */
export const standingOf = ({
  subject: { tokenEpoch, identityId, identityEpoch },
  rights,
  isGuest,
}: Pick<KnownUser, "rights" | "isGuest"> & {
  readonly subject: Pick<TokenSubject, "tokenEpoch" | "identityId" | "identityEpoch">;
}): Standing => ({ rights, isGuest, tokenEpoch, identityId, identityEpoch });

export type JoinDecision = JoinApproval | JoinRefusal;

export interface JoinApproval {
  readonly approved: true;
  readonly room: RoomFields;
  readonly user: UserRecord;
  /** The user's rights. */
  readonly rights: Rights;
  /** The most that the token allows. */
  readonly ceiling: Rights;
  /** The identity of its user. Absent for a user of its own. */
  readonly identityId?: string;
  /** Whether that is a guest. */
  readonly isGuest?: boolean;
  /** Whether it only watches: `user` is no user of the room then. */
  readonly watches?: true;
  /** The names of rooms in the token, if it does not name this one by its ID. */
  readonly byCustomId?: readonly RoomName[];
  /** Epoch milliseconds. */
  readonly tokenExpiresAt: number;
  /** The token's epochs; absent while all are 0. */
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

/** Time for which a room without its lost users holds joins; rooms are spread over it. `random` is in [0, 1). */
export const joinsHeldMs = (graceMs: number, random: number): number => graceMs * (0.1 + random / 2);

/** The delay of the one read before users come back: many rooms have their first user in the same moment. */
export const firstReadMs = (graceMs: number, random: number): number => (graceMs * random) / 20;

/** The delay of a refusal: each new attempt costs a handshake, and all sockets of a flood come back at once. */
export const joinRefusedAfterMs = (random: number): number => 2_000 + 2_000 * random;

/** Waiting joins are read together, by short reads: requests of other rooms wait behind one of them only. */
export const JOIN_READS = { waitsPerRead: 50 } as const;
