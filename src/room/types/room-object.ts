/** Commands, personal data and headers that Workers exchange with a room's object. */

import type { StoredSession } from "@atrium/contract/resources/snapshots.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { SubscriptionSettings } from "@atrium/contract/resources/thread.ts";
import type { Trace } from "../../platform/trace.ts";

/** A command with the trace of its request. */
export type TracedCommand = RoomCommand & { readonly trace?: Trace | null };

/**
 * A change in the database that a live room must learn of. Applying a command twice is harmless: the room reads the new
 * fields itself, so the later of two changes wins.
 */
export type RoomCommand =
  /** Ends all sessions; the room refuses joins until it is active again. */
  | { readonly type: "room.closed" }
  /** Closes all sockets and removes everything the object keeps. */
  | { readonly type: "room.deleted" }
  /** Closes the user's sockets and ends its session. */
  | { readonly type: "user.deleted"; readonly userId: string }
  /**
   * Same as `user.deleted`, and removes the user's content, its name in the room and in events, and traces of
   * its identity.
   */
  | {
      readonly type: "user.erased";
      readonly userId: string;
      readonly identityId?: string | null;
      /** The identity itself is gone; otherwise others may name it again. */
      readonly isIdentityErased?: boolean;
    }
  /**
   * Removes the identity from content of others, and its read positions and settings, also if it has never
   * joined the room.
   */
  | { readonly type: "identity.erased"; readonly identityId: string }
  /** Closes the sockets that joined with ended tokens: of a user, or of all users. */
  | { readonly type: "tokens.ended"; readonly userId: string | null }
  /** Applies access anew to open sockets of an identity, or of all; closes those without access. */
  | { readonly type: "access.changed"; readonly identityId: string | null }
  /** Shows participants the new fields. */
  | { readonly type: "room.updated" }
  | { readonly type: "user.created"; readonly userId: string }
  | { readonly type: "user.updated"; readonly userId: string };

/** The parts of a room that know its users, in the order in which they are read. */
export const PERSONAL_PARTS = [
  "sessions",
  "follows",
  "comments",
  "threads",
  "documents",
  "suggestions",
  "streams",
] as const;
export type PersonalPart = (typeof PERSONAL_PARTS)[number];

/** Times are epoch milliseconds. */
export type RoomRecordOfUser =
  | { readonly type: "session"; readonly session: StoredSession }
  | { readonly type: "follow"; readonly followedId: string }
  /** The comment as JSON. */
  | { readonly type: "comment"; readonly comment: string }
  | { readonly type: "reaction"; readonly commentId: string; readonly reaction: string }
  | { readonly type: "mention"; readonly commentId: string }
  | { readonly type: "resolution"; readonly commentId: string }
  /** The user's state in a thread. `subscribed` is null where its settings decide. */
  | {
      readonly type: "thread";
      readonly threadId: string;
      readonly readSeq: number;
      readonly subscribed: boolean | null;
    }
  | { readonly type: "settings"; readonly settings: SubscriptionSettings }
  /** The user wrote at least some of these updates. */
  | {
      readonly type: "document";
      readonly name: string;
      readonly updates: number;
      readonly firstAt: number;
      readonly at: number;
    }
  /** A suggestion that the user has made or reviewed. */
  | { readonly type: "suggestion"; readonly suggestion: Suggestion }
  /** The user's appends to a stream, or some of them. */
  | {
      readonly type: "stream";
      readonly name: string;
      readonly appends: number;
      readonly bytes: number;
      readonly firstAt: number;
      readonly at: number;
    };

export interface RecordsOfUser {
  readonly records: readonly RoomRecordOfUser[];
  /** The position of the next part; null at the end. */
  readonly next: string | null;
}

/** A client's request for a socket of documents. */
export interface DocumentAddress {
  readonly wire: "yWebsocket" | "hocuspocus";
  /** Null when each frame names its document. */
  readonly name: string | null;
  /** Empty when the first frame has it. */
  readonly token: string;
  /** The subprotocol that the client expects the server to choose; null for none. */
  readonly protocol: string | null;
}

/** Headers of an upgrade request to a room's object, and of requests for a part of a download, a stream or changes. */
export const HEADERS = {
  account: "Atrium-Account",
  room: "Atrium-Room",
  address: "Atrium-Address",
  /** The trace as JSON in ASCII. */
  trace: "Atrium-Trace",
  /** A {@link DocumentAddress} as JSON in ASCII. */
  document: "Atrium-Document",
  /** The request ID of a download's part, URI-encoded. */
  download: "Atrium-Download",
  /** A live read of a stream as JSON in ASCII. */
  stream: "Atrium-Stream",
  /** A live read of changes as JSON in ASCII. */
  changes: "Atrium-Changes",
};
