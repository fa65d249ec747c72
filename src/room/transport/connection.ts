/** One socket as the room sees it, by phase. */

import type { JoinRoom } from "@atrium/contract/operations/connection.ts";
import type { Rights } from "@atrium/contract/resources/permissions.ts";
import type { RoomName } from "@atrium/contract/resources/room-name.ts";

import type { TokenEpochs } from "../../platform/token-claims.ts";
import type { Sendable } from "../protocol/frame.ts";
import type { CloseCode } from "../protocol/protocol.ts";
import type { DatabaseQuery } from "../protocol/room-request.ts";

/** The documents that a socket has open, and how its client speaks of them. */
export interface DocumentWire {
  /** `room`: binary frames beside the room's protocol. `yWebsocket` names the document by address, `hocuspocus` by frame. */
  readonly wire: "room" | "yWebsocket" | "hocuspocus";
  readonly opened: readonly string[];
  /** The first 32 entries that it shows in them. */
  readonly shown?: readonly ShownEntry[];
}

export interface ShownEntry {
  readonly key: string;
  readonly client: number;
  readonly clock: number;
}

export interface Waiting {
  readonly phase: "waiting";
  readonly id: string;
  /** Times here and below are epoch milliseconds. */
  readonly openedAt: number;
  /** The client's address or network, as the Worker knows it. */
  readonly address: string;
  /** Absent for a socket that speaks the room's protocol: it opens documents once it has joined. */
  readonly documents?: DocumentWire;
}

export interface JoinRequest extends JoinRoom {
  readonly requestId: string | undefined;
}

/** A socket whose token is being verified. */
export interface Authorizing {
  readonly phase: "authorizing";
  readonly id: string;
  readonly openedAt: number;
  readonly address: string;
  readonly request: JoinRequest;
  /** True once the token is verified; the room is reading the user. */
  readonly isVerified?: boolean;
  /** A user has changed since the database was read: the result may be out of date. */
  readonly stale: boolean;
  readonly documents?: DocumentWire;
}

/** A socket that keeps its user online. */
export interface Joined {
  readonly phase: "joined";
  readonly id: string;
  readonly userId: string;
  /** Rights of the user, within the ceiling. */
  readonly rights: Rights;
  /** The most that its request and its token allow. */
  readonly ceiling: Rights;
  /** The identity of its user. Absent for a user of its own. */
  readonly identityId?: string;
  /** Whether that is a guest. */
  readonly isGuest?: boolean;
  /** Whether it only watches: it has no session, takes no part, and is shown to no one. `userId` is a person's then. */
  readonly watches?: true;
  /** Whether its token may write nothing, whatever its user may. */
  readonly readsOnly?: boolean;
  /** The names of rooms in the token, of which one is to be the room's custom ID. Absent where that does not matter. */
  readonly byCustomId?: readonly RoomName[];
  readonly tokenExpiresAt: number;
  /** The token's epochs; absent while all are 0. */
  readonly tokenEpochs?: TokenEpochs;
  /** The latest sign of life, kept in memory: it changes in place, with each frame. */
  lastSeenAt: number;
  /** The sign of life in the socket's attachment, which survives hibernation. */
  readonly savedLastSeenAt: number;
  /** Accepts several frames as one array. */
  readonly batch: boolean;
  readonly subscriptions: readonly string[];
  /** Takes numbers for users in the presence of everyone (R86). */
  readonly numbers?: boolean;
  /** Its client knows that no other socket sees its user's presence (R101). */
  readonly isUnseen?: boolean;
  /** Presence state of the user as JSON in the attachment; null if another socket of the user keeps it. */
  readonly presence: string | null;
  /** The color that the room has given to the user (R51), with the state. */
  readonly color?: number;
  readonly documents?: DocumentWire;
}

export type Connection = Waiting | Authorizing | Joined;

/** One thing for the object to do, in order. Sockets are named by the ids they were opened with. */
export type Effect =
  | { readonly type: "send"; readonly to: readonly string[]; readonly message: Sendable }
  /** A frame of a document, to sockets that speak its protocol. */
  | { readonly type: "sendBytes"; readonly to: readonly string[]; readonly frame: Uint8Array }
  /** Documents have many updates: call `openDocuments.foldDue` when there is time. */
  | { readonly type: "foldDocuments" }
  /** Do not hibernate: a client answers before it is sent the rest. */
  | { readonly type: "stayAwake"; readonly ms: number }
  /** Write the attachment: all that the room knows of the socket after hibernation. */
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
  /** Read the room or its users from the database, then call `databaseRequests.answer`. */
  | {
      readonly type: "queryDatabase";
      readonly id: string;
      readonly userId: string;
      readonly query: DatabaseQuery;
    }
  /** Read the user from the database, then call `updates.updateUser`. */
  | { readonly type: "refreshUser"; readonly userId: string; readonly event: "userCreated" | "userUpdated" }
  /** Read the access of the online users of an identity, or of all identities, then call `commands.changeAccess`. */
  | { readonly type: "refreshAccess"; readonly identityId: string | null }
  /** Read the room's row from the database, then call `updates.updateRoom`, which closes these sockets of a closed room. */
  | { readonly type: "refreshRoom"; readonly closing: readonly string[] | null }
  /** Read the token epochs of a user, or of the organization, then call `updates.endTokens`. */
  | { readonly type: "refreshTokens"; readonly userId: string | null }
  /** The room has lost its users, who all come back now: read them together. */
  | { readonly type: "holdJoins" }
  | { readonly type: "planAlarm" }
  | { readonly type: "recoverSoon" }
  | { readonly type: "acknowledgeRead"; readonly id: string; readonly mark: number }
  /** Charge the user for the frames of this batch of effects, and for points of other work. */
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
