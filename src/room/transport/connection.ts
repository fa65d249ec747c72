/** One socket as the room sees it, by phase. */

import type { TokenEpochs } from "../../wire/token-claims.ts";
import type { Role } from "../../wire/user.ts";
import type { JoinRoom } from "../protocol/messages.ts";

/** The documents that a socket has open, and how its client speaks of them. */
export interface DocumentWire {
  /**
   * `room`: in binary frames beside the room's protocol. The others speak of nothing else: editors' own clients have
   * opened them. `yWebsocket`: the address names the document. `hocuspocus`: each frame does.
   */
  readonly wire: "room" | "yWebsocket" | "hocuspocus";
  /** The documents that it has open, as its client names them. */
  readonly opened: readonly string[];
  /** The first 32 entries that it shows in them. */
  readonly shown?: readonly ShownEntry[];
}

/** An entry of a document's awareness without its state. */
export interface ShownEntry {
  /** The document, as in `opened`. */
  readonly key: string;
  readonly client: number;
  readonly clock: number;
}

/** A socket that has sent nothing yet. */
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

/** A valid `JOIN_ROOM` whose token has not been verified. */
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
  /** Its token is valid: the room reads its user. */
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
  readonly role: Role;
  /** The highest role that its request and its token allow. */
  readonly ceiling: Role;
  readonly tokenExpiresAt: number;
  /** Those of its token; absent while both are 0. */
  readonly tokenEpochs?: TokenEpochs;
  /** The latest sign of life, kept in memory: it changes in place, with each frame. */
  lastSeenAt: number;
  /** The sign of life in the socket's attachment, which survives hibernation. */
  readonly savedLastSeenAt: number;
  /** Accepts several frames as one array. */
  readonly batch: boolean;
  /** Presence targets: user ids, `*` or `following`. */
  readonly subscriptions: readonly string[];
  /** Takes numbers for users in the presence of everyone (R86). */
  readonly numbers?: boolean;
  /** Its user's presence state as JSON, if this is the socket that keeps it: as its attachment has it. */
  readonly presence: string | null;
  readonly documents?: DocumentWire;
}

export type Connection = Waiting | Authorizing | Joined;

/** Whether an editor's own client has opened the socket: the room's protocol is not spoken there. */
export const isOfDocuments = ({ documents }: Connection): boolean =>
  documents !== undefined && documents.wire !== "room";

/**
 * How old the sign of life in the attachment may get before it is rewritten. After hibernation, a socket that
 * sends messages but no pings is dropped up to this much late, and never early.
 */
export const LAST_SEEN_GRANULARITY_MS = 5_000;
