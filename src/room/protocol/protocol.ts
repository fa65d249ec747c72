/** The WebSocket protocol (docs/protocol.md) in types: messages of the server, and close codes. */
import { ERROR_CODES, type ErrorCode, type Module } from "@atrium/contract/errors.ts";
import type { OnlinePlace } from "@atrium/contract/operations/presence.ts";
import type { Permission } from "@atrium/contract/resources/permissions.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { SubscriptionSettings, Thread } from "@atrium/contract/resources/thread.ts";
import type { Role, User } from "@atrium/contract/resources/user.ts";

/** A client sends PING when it is otherwise idle; the runtime answers PONG without waking the room. */
export const PING = "ping";
export const PONG = "pong";

export type Response =
  | {
      readonly type: "response";
      readonly success: true;
      readonly description: string;
      readonly data: object;
      readonly error: null;
      readonly requestId?: string;
    }
  | {
      readonly type: "response";
      readonly success: false;
      readonly description: string;
      readonly data: Record<string, never>;
      readonly error: Fault;
      readonly requestId?: string;
    };

/** The events of lasting changes, which take the next `seq` and are kept for clients that are offline. */
export type ChangeEvent =
  | "userCreated"
  | "userUpdated"
  | "userDeleted"
  | "userFollowed"
  | "userUnfollowed"
  | "roomUpdated"
  | "storeChanged"
  | "commentCreated"
  | "commentUpdated"
  | "commentDeleted"
  | "suggestionChanged"
  | "suggestionDeleted";

export interface Change {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: object;
}

/** The user's latest state, with its color. */
type PresenceState = Readonly<Record<string, unknown>>;

/** A user's presence; null for none. A number can stand for the user, and leaves out a known color (R86). */
type PresenceTuple = readonly [
  user: string | number,
  state: PresenceState | null,
  introduces?: number | undefined,
];

export type ServerEvent =
  | (Change & { readonly type: "event" })
  | {
      readonly type: "event";
      readonly event: "userJoined" | "userLeft";
      readonly data: { readonly userId: string; readonly user: User };
    }
  | {
      readonly type: "event";
      readonly event: "presence";
      /** `every`, in milliseconds, is how far ticks are apart, unless that is too little to matter; without updates see R101. */
      readonly data: { readonly every?: number; readonly updates: readonly PresenceTuple[] };
    }
  | {
      readonly type: "event";
      readonly event: "broadcast";
      /** `from` is null for the organization. */
      readonly data: { readonly event: string; readonly data: unknown; readonly from: string | null };
    }
  /** Asks a client that accepts arrays to reply `MARK` with the same number once it has read this far. */
  | { readonly type: "event"; readonly event: "mark"; readonly data: { readonly mark: number } }
  | { readonly type: "event"; readonly event: "roleChanged"; readonly data: { readonly role: Role } }
  | {
      readonly type: "event";
      readonly event: "accessChanged";
      readonly data: { readonly role: Role; readonly permissions: readonly Permission[] };
    }
  /** The reader's position in a thread, subscription or settings have changed: sent to that reader's sockets alone. */
  | { readonly type: "event"; readonly event: "threadUpdated"; readonly data: { readonly thread: Thread } }
  | {
      readonly type: "event";
      readonly event: "settingsUpdated";
      readonly data: { readonly settings: SubscriptionSettings };
    }
  | {
      readonly type: "event";
      readonly event: "authFailed";
      readonly data: { readonly code: ErrorCode; readonly message: string };
    };

export type ServerMessage = Response | ServerEvent;

/** `data` of the response to `JOIN_ROOM`. */
export interface JoinedRoom {
  readonly room: Room;
  readonly user: User;
  /** The permissions of the socket, within the requested role, the user's own, its token and its identity's access. */
  readonly permissions: readonly Permission[];
  /** The same in one word: an editor may write stores. */
  readonly role: Role;
  readonly sessionId: string;
  /** The users online, including the joining one; the first ones for a client that limits them. */
  readonly users: readonly User[];
  /** The last user of `users` that others follow: `after` for the next page. */
  readonly next?: OnlinePlace;
  /** Followed users by user id: the joining user's own, then the earliest, as many as fit. */
  readonly follows: Readonly<Record<string, readonly string[]>>;
  readonly presence: Readonly<Record<string, PresenceState>>;
  /** Names the history of `seq`, which begins when a room starts without sockets. */
  readonly epoch: string;
  readonly seq: number;
  /** The changes after `since`, if it was given and they are still kept. */
  readonly changes?: readonly Change[];
  /** True if the changes are no longer kept: the client's state may be out of date. */
  readonly reset?: true;
}

export interface Fault {
  readonly module: Module;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Close codes. After an error, the code is the one defined for its error code. */
export const CLOSE = {
  left: 1000,
  silent: 1001,
  failed: ERROR_CODES.INTERNAL_ERROR.close,
  protocolBroken: ERROR_CODES.BAD_REQUEST.close,
  unauthorized: ERROR_CODES.UNAUTHORIZED.close,
  forbidden: ERROR_CODES.FORBIDDEN.close,
  roomDeleted: ERROR_CODES.NOT_FOUND.close,
  joinTimeout: 4408,
  tooManySockets: ERROR_CODES.CONFLICT.close,
  frameTooLarge: 4413,
  readerTooSlow: 4413,
  flooding: ERROR_CODES.RATE_LIMITED.close,
} as const;
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE] | (typeof ERROR_CODES)[ErrorCode]["close"];

/** A client closes a socket that it replaces with this code: its user has not left. */
const RECONNECTING = 4000;

/** Codes of a broken connection, and of a client that replaces its socket. */
const BROKEN: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013, 1014, 1015, RECONNECTING]);

/** Whether a socket that ended with this code was not closed for good. */
export const isBroken = (code: number): boolean => BROKEN.has(code);
