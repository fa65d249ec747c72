/** What REST tells a live room after a change in the database. */
import type { Trace } from "../../platform/trace.ts";
import type { StoredSession } from "../../wire/snapshots.ts";

/** A change with the request that it follows from. */
export type TracedCommand = RoomCommand & { readonly trace?: Trace | null };

/** A change for the room's object to carry out. Applying a command twice is harmless. */
export type RoomCommand =
  /** Closes all sockets and ends their sessions; the room refuses joins until it is active again. */
  | { readonly type: "room.closed" }
  /** Closes all sockets and removes everything the object keeps. */
  | { readonly type: "room.deleted" }
  /** Closes the user's sockets and ends its session. */
  | { readonly type: "user.deleted"; readonly userId: string }
  /** The same, and removes what the user wrote, and what names the user in the room and in its events. */
  | { readonly type: "user.erased"; readonly userId: string }
  /** Closes the sockets that joined with ended tokens: those of a user, or of all users. The room reads which they are. */
  | { readonly type: "tokens.ended"; readonly userId: string | null }
  /** Shows participants the room's new fields, which the room reads itself. */
  | { readonly type: "room.updated" }
  /** Shows participants a user that can join from now on. */
  | { readonly type: "user.created"; readonly userId: string }
  /** Shows participants the user's new fields. The room reads them itself, so the later of two changes wins. */
  | { readonly type: "user.updated"; readonly userId: string };

/** The parts of a room that know its users, in the order in which they are read. */
export const PERSONAL_PARTS = ["sessions", "follows", "comments", "documents"] as const;
export type PersonalPart = (typeof PERSONAL_PARTS)[number];

/** Times are epoch milliseconds. */
export type RoomRecordOfUser =
  | { readonly type: "session"; readonly session: StoredSession }
  /** The user follows this one. */
  | { readonly type: "follow"; readonly followedId: string }
  /** As JSON. */
  | { readonly type: "comment"; readonly comment: string }
  /** The user reacted to a comment, their own or another's. */
  | { readonly type: "reaction"; readonly commentId: string; readonly reaction: string }
  /** The user is mentioned in a comment. */
  | { readonly type: "mention"; readonly commentId: string }
  /** The user wrote at least some of these updates. */
  | {
      readonly type: "document";
      readonly name: string;
      readonly updates: number;
      readonly firstAt: number;
      readonly at: number;
    };

/** Some of the records of a part. */
export interface RecordsOfUser {
  readonly records: readonly RoomRecordOfUser[];
  /** Where the part goes on; null at its end. */
  readonly next: string | null;
}

/** How a client opens a socket for documents. */
export interface DocumentAddress {
  readonly wire: "yWebsocket" | "hocuspocus";
  /** Null when each frame names its document. */
  readonly name: string | null;
  /** Empty when the first frame has it. */
  readonly token: string;
  /** The subprotocol that the client expects the server to choose; null for none. */
  readonly protocol: string | null;
}

/** The headers that name the account, the room and the client's address of an upgrade request to a room's object. */
export const ACCOUNT_HEADER = "Atrium-Account";
export const ROOM_HEADER = "Atrium-Room";
export const ADDRESS_HEADER = "Atrium-Address";
/** Of an upgrade: its trace as JSON in ASCII. */
export const TRACE_HEADER = "Atrium-Trace";
/** Of an upgrade for documents: a {@link DocumentAddress} as JSON in ASCII. */
export const DOCUMENT_HEADER = "Atrium-Document";
/** Of the request for a part of a download: its id, URI-encoded. */
export const DOWNLOAD_HEADER = "Atrium-Download";
