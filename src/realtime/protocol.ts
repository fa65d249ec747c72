/** The WebSocket protocol in types: what either side may say, its limits and its close codes (PROTOCOL.md). */
import * as z from "zod";
import { ERROR_CODES, type ErrorCode, type Module } from "../errors.ts";
import type { Room } from "../rooms/schema.ts";
import { Role, type User } from "../users/schema.ts";

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
export const MAX_REQUEST_ID_LENGTH = 255;
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
} as const;
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE] | (typeof ERROR_CODES)[ErrorCode]["close"];

/** `data` of `JOIN_ROOM`. A token that is missing or no string is read as an empty one, which is refused as such. */
export const JoinRoom = z.object({ token: z.string().catch(""), role: Role.default("editor") });
export type JoinRoom = z.infer<typeof JoinRoom>;

/** `data` of `LEAVE_ROOM`. */
export const LeaveRoom = z.object({});
export type LeaveRoom = z.infer<typeof LeaveRoom>;

const RequestId = z.string().max(MAX_REQUEST_ID_LENGTH).optional();

/** Everything that a client may say. */
export const ClientMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("JOIN_ROOM"), requestId: RequestId, data: JoinRoom }),
  z.object({ type: z.literal("LEAVE_ROOM"), requestId: RequestId, data: LeaveRoom }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

const MESSAGE_TYPES: ReadonlySet<unknown> = new Set(
  ClientMessage.options.map((option) => option.shape.type.value),
);

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

/** What the server says unasked. */
export type ServerEvent =
  | {
      readonly type: "event";
      readonly event: "userJoined" | "userLeft" | "userUpdated";
      readonly data: { readonly userId: string; readonly user: User };
    }
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
}

/** A request that is answered by a failure. */
export interface Fault {
  readonly module: Module;
  readonly code: ErrorCode;
  readonly message: string;
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

/** A frame as it was understood; `attempted` tells which message a faulty one set out to be. */
export type Frame =
  | { readonly kind: "message"; readonly message: ClientMessage }
  | {
      readonly kind: "fault";
      readonly attempted: string | null;
      readonly fault: Fault;
      readonly requestId: string | undefined;
    }
  | { readonly kind: "tooLarge" };
export type ReadableFrame = Exclude<Frame, { readonly kind: "tooLarge" }>;

/** Reads what came over a socket. It never throws: whatever can be wrong with a frame is an outcome. */
export function parseFrame(frame: string | ArrayBuffer): Frame {
  if (exceedsLimit(frame)) return { kind: "tooLarge" };
  if (typeof frame !== "string") return faulty("BAD_REQUEST", "Frames must be text");
  const json = parseJson(frame);
  if (!isRecord(json)) return faulty("BAD_REQUEST", "A message must be a JSON object");
  const requestId = RequestId.safeParse(json.requestId).data;
  if (!MESSAGE_TYPES.has(json.type)) return faulty("BAD_REQUEST", "Unknown message type", requestId);
  const parsed = ClientMessage.safeParse({ type: json.type, requestId, data: json.data ?? {} });
  if (parsed.success) return { kind: "message", message: parsed.data };
  return faulty("VALIDATION_ERROR", describeIssue(parsed.error), requestId, String(json.type));
}

const faulty = (
  code: ErrorCode,
  message: string,
  requestId?: string,
  attempted: string | null = null,
): Frame => ({
  kind: "fault",
  attempted,
  fault: { module: "Rooms", code, message },
  requestId,
});

/** `data.role: Invalid option …`: the field first, so that the sender finds it. */
function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? "Invalid message" : `${issue.path.join(".")}: ${issue.message}`;
}

const encoder = new TextEncoder();

/** Counts bytes only where the number of UTF-16 units (1 to 3 bytes each) leaves it open. */
function exceedsLimit(frame: string | ArrayBuffer): boolean {
  if (typeof frame !== "string") return frame.byteLength > MAX_FRAME_BYTES;
  if (frame.length > MAX_FRAME_BYTES) return true;
  return frame.length * 3 > MAX_FRAME_BYTES && encoder.encode(frame).byteLength > MAX_FRAME_BYTES;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
