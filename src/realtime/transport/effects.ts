/** What the room and the object that hosts it say to each other: effects out, verdicts of admission in. */
import type { RoomRow } from "../../rooms/table.ts";
import type { UserRecord } from "../../users/schema.ts";
import type { MessageOf } from "../protocol/messages.ts";
import type { CloseCode, Fault, ServerMessage } from "../protocol/protocol.ts";
import type { Joined, JoinRequest, Waiting } from "./connections.ts";

/** Something that the room wants done, in order. Sockets are named by the ids they were opened with. */
export type Effect =
  | { readonly type: "send"; readonly to: readonly string[]; readonly message: ServerMessage }
  /** Keep this with the socket: all that the room will know of it after hibernation. */
  | { readonly type: "attach"; readonly connection: Waiting | Joined }
  | { readonly type: "close"; readonly id: string; readonly code: CloseCode; readonly reason: string }
  /** Find out who asks to join, and come back with `join`. */
  | { readonly type: "authorizeJoin"; readonly id: string; readonly request: JoinRequest }
  /** Read the user as the database has it now, and come back with `updateUser`. */
  | { readonly type: "refreshUser"; readonly userId: string; readonly event: "userCreated" | "userUpdated" }
  /** Read the room's row, and come back with `updateRoom`. */
  | { readonly type: "refreshRoom" }
  /** Read what the database has on the room or its users, and come back with `show`. */
  | { readonly type: "queryDatabase"; readonly id: string; readonly query: DatabaseQuery }
  /** There are events to hand over to those who listen. */
  | { readonly type: "drainOutbox" }
  /** The socket has read all that came before this mark. */
  | { readonly type: "acknowledgeRead"; readonly id: string; readonly mark: number }
  /** Presence has changed for so many sockets: call `flush` when the room's pace allows. */
  | { readonly type: "presenceChanged"; readonly receivers: number };

/** A request that the database must answer. */
export type DatabaseQuery = MessageOf<"ROOM_GET"> | MessageOf<"USERS_GET">;

/** What became of a request to join. */
export type JoinDecision = JoinApproval | JoinRefusal;

export interface JoinApproval {
  readonly approved: true;
  readonly room: RoomRow;
  readonly user: UserRecord;
  /** Epoch milliseconds. */
  readonly tokenExpiresAt: number;
}

export interface JoinRefusal extends Fault {
  readonly approved: false;
  /** True when the token is to blame: the client's `authFailed` fires. */
  readonly authFailed: boolean;
}

export const joinRefusal = (
  module: Fault["module"],
  code: Fault["code"],
  message: string,
  authFailed = false,
): JoinRefusal => ({ approved: false, module, code, message, authFailed });
