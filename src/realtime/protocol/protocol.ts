/** The WebSocket protocol in types: what the server says, its deadlines and its close codes (PROTOCOL.md). */
import { ERROR_CODES, type ErrorCode, type Module } from "../../platform/error-codes.ts";
import type { Room } from "../../rooms/schema.ts";
import type { Role, User } from "../../users/schema.ts";

/** A client says PING when it has nothing else to say; the runtime answers PONG without waking the room. */
export const PING = "ping";
export const PONG = "pong";

/** Time from the upgrade to the answer to `JOIN_ROOM`. */
export const JOIN_DEADLINE_MS = 10_000;
/** A joined socket from which nothing came for so long is dead. */
export const SILENCE_MS = 75_000;
/** While somebody is online, the room looks at its sockets at least this often. */
export const SWEEP_INTERVAL_MS = 60_000;
export const MAX_FRAME_BYTES = 256 * 1024;
/** Sockets of one room that have not joined. */
export const MAX_WAITING_SOCKETS = 1_000;
/** Joined sockets of one user. */
export const MAX_SOCKETS_PER_USER = 32;

/** Why the server closes a socket. The codes of refusals are those of the error table. */
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

/** The answer to a request: the envelope of the REST interface. */
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
      readonly error: { readonly module: Module; readonly code: ErrorCode; readonly message: string };
      readonly requestId?: string;
    };

/** The events that are lasting changes: each takes the next `seq` of its room and is kept for those who are away. */
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
  | "commentDeleted";

/** A lasting change, in one shape wherever it is told. */
export interface Change {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: object;
}

/** A state is what its user last sent, with the user's color. */
export type PresenceState = Readonly<Record<string, unknown>>;

/** What the server says unasked. */
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
      readonly data: { readonly updates: readonly (readonly [string, PresenceState | null])[] };
    }
  | {
      readonly type: "event";
      readonly event: "broadcast";
      /** `from` is null for the organization. */
      readonly data: { readonly event: string; readonly data: unknown; readonly from: string | null };
    }
  /** Asks a client that takes arrays to answer `MARK` with the same number, once it has read so far. */
  | { readonly type: "event"; readonly event: "mark"; readonly data: { readonly mark: number } }
  | {
      readonly type: "event";
      readonly event: "authFailed";
      readonly data: { readonly code: ErrorCode; readonly message: string };
    };

export type ServerMessage = Response | ServerEvent;

/** `data` of the answer to `JOIN_ROOM`. */
export interface JoinedRoom {
  readonly room: Room;
  readonly user: User;
  /** What was granted: the lower of the role asked for and the user's own. */
  readonly role: Role;
  readonly sessionId: string;
  /** Those online, the joining user included. */
  readonly users: readonly User[];
  /** Whom each user follows, by user id, those offline included. */
  readonly follows: Readonly<Record<string, readonly string[]>>;
  /** The states of all who have one, by user id. */
  readonly presence: Readonly<Record<string, PresenceState>>;
  /** The latest change. */
  readonly seq: number;
  /** Those after `since`, where that was given and they are still kept. */
  readonly changes?: readonly Change[];
  /** True where they are not: whatever the client knows may be out of date. */
  readonly reset?: true;
}

/** A request that is answered by a failure. */
export interface Fault {
  readonly module: Module;
  readonly code: ErrorCode;
  readonly message: string;
}

/** `data` that is text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A message as the frame that it is sent in. */
export function serialize(message: ServerMessage): string {
  if (message.type !== "response" || !(message.data instanceof JsonText)) return JSON.stringify(message);
  const { data, ...rest } = message;
  return `${JSON.stringify(rest).slice(0, -1)},"data":${data.text}}`;
}

const echo = (requestId: string | undefined) => (requestId === undefined ? {} : { requestId });

export const success = (description: string, data: object, requestId?: string): Response => ({
  type: "response",
  success: true,
  description,
  data,
  error: null,
  ...echo(requestId),
});

export const failure = ({ module, code, message }: Fault, requestId?: string): Response => ({
  type: "response",
  success: false,
  description: message,
  data: {},
  error: { module, code, message },
  ...echo(requestId),
});
