/** What the room asks of the object that hosts it. */
import type { CloseCode } from "../protocol/close.ts";
import type { Sendable } from "../protocol/frame.ts";
import type { DatabaseQuery } from "../protocol/room-request.ts";
import type { Joined, JoinRequest, Waiting } from "./connection.ts";

/** One thing for the object to do, in order. Sockets are named by the ids they were opened with. */
export type Effect =
  | { readonly type: "send"; readonly to: readonly string[]; readonly message: Sendable }
  /** A frame of a document, to sockets that speak its protocol. */
  | { readonly type: "sendBytes"; readonly to: readonly string[]; readonly frame: Uint8Array }
  /** Documents have many updates: call `openDocuments.foldDue` when there is time. */
  | { readonly type: "foldDocuments" }
  /** Do not hibernate for so long: a client is to answer before it is sent the rest. */
  | { readonly type: "stayAwake"; readonly ms: number }
  /** Write this to the socket's attachment: all that the room will know of it after hibernation. */
  | { readonly type: "attach"; readonly connection: Waiting | Joined }
  | { readonly type: "close"; readonly id: string; readonly code: CloseCode; readonly reason: string }
  /** Verify the token and read its user and room, then call `handshake.complete`. */
  | { readonly type: "authorizeJoin"; readonly id: string; readonly request: JoinRequest }
  /** Verify the token and read its user and room, then call `tokenRefresh.complete`. */
  | {
      readonly type: "authorizeRefresh";
      readonly id: string;
      readonly token: string;
      readonly requestId: string | undefined;
    }
  /** The same for documents of a joined socket, then call `documentSockets.verified`. */
  | { readonly type: "authorizeDocuments"; readonly id: string; readonly token: string }
  /** Read the room or its users from the database, then call `questions.answer`. */
  | {
      readonly type: "queryDatabase";
      readonly id: string;
      readonly userId: string;
      readonly query: DatabaseQuery;
    }
  /** Read the user from the database, then call `updates.updateUser`. */
  | { readonly type: "refreshUser"; readonly userId: string; readonly event: "userCreated" | "userUpdated" }
  /** Read which of these users exist from the database, then call `updates.forgetUsers` with the others. */
  | { readonly type: "checkUsers"; readonly userIds: readonly string[] }
  /** Read the room's row from the database, then call `updates.updateRoom`: it closes these sockets if the room is closed; null for none. */
  | { readonly type: "refreshRoom"; readonly closing: readonly string[] | null }
  /** Read the token epochs of a user, or of the organization, then call `updates.endTokens`. */
  | { readonly type: "refreshTokens"; readonly userId: string | null }
  /** The room has lost its users, who all come back now: read them together. */
  | { readonly type: "holdJoins" }
  /** The time of the next task has changed. */
  | { readonly type: "planAlarm" }
  /** Memory may differ from storage: make them match soon. */
  | { readonly type: "recoverSoon" }
  /** The client has read everything sent before this mark. */
  | { readonly type: "acknowledgeRead"; readonly id: string; readonly mark: number }
  /** Count what has been sent since the first of these effects for this user, or the organization, and points of other work. */
  | {
      readonly type: "countDelivery";
      readonly userId: string;
      readonly isBroadcast: boolean;
      readonly work?: number;
    }
  /** Call `messages.resume` after this time: messages wait. */
  | { readonly type: "resumeIn"; readonly ms: number }
  /** Presence has changed for this many sockets: call `flush` when the flush policy allows. */
  | { readonly type: "presenceChanged"; readonly receivers: number };
