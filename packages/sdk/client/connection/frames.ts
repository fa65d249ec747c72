/** Parses and validates messages of the service. Unknown and malformed messages are ignored. */
import { clientFault, type Fault } from "../../core/error.ts";
import { assumeType, frozen, isRecord } from "../../core/json.ts";
import type { Comment, Permission, Resource, Role, Room, User as UserRecord } from "../../wire/resources.ts";

export type Data = Readonly<Record<string, unknown>>;

/** The response to a request; `fault` is null for a success. */
export interface ResponseFrame {
  readonly requestId: string;
  readonly data: Data;
  readonly fault: Fault | null;
}

/** An event in the room; a lasting change has the next `seq` of the room. */
export interface EventFrame {
  readonly event: string;
  readonly data: Data;
  readonly seq: number | null;
}

export type Message = ResponseFrame | EventFrame;

/** The event that stands for the refusal of a message without a request id. */
export const NOTICE_REFUSED = "noticeRefused";

/** The error for a response without the fields that its request needs. */
export const UNREADABLE = clientFault("INTERNAL_ERROR", "The response could not be read");

/** The user's permissions in the room. */
export interface Access {
  /** A list such as `["*:read", "comments:write"]`; `*` means every resource. */
  readonly permissions: readonly Permission[];
  readonly role: Role;
}

export interface Joined {
  readonly access: Access;
  readonly room: Room;
  readonly online: Data;
  readonly follows: Readonly<Record<string, readonly string[]>>;
  readonly seq: number;
  readonly epoch: unknown;
  /** The missed changes; null if everything must be loaded again. */
  readonly changes: readonly EventFrame[] | null;
}

/** A frame has one message or an array of messages. */
export function parseFrame(text: string): Message[] {
  return [parseJson(text)].flat().flatMap(readMessage);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readMessage(json: unknown): Message | [] {
  if (!isRecord(json)) return [];
  const data: Data = Object(frozen(json.data));
  if (json.type === "event") return readEvent(json);
  if (json.type !== "response") return [];
  const fault = json.success === true ? null : readFault(json.error);
  if (typeof json.requestId !== "string")
    return fault === null ? [] : { event: NOTICE_REFUSED, data, seq: null };
  return { requestId: json.requestId, data, fault };
}

function readEvent({ event, data, seq }: Data): EventFrame | [] {
  if (typeof event !== "string" || !isRecord(data)) return [];
  return { event, data, seq: isCount(seq) ? seq : null };
}

export const readFault = (error: unknown): Fault => {
  const { code = "INTERNAL_ERROR", module = "Server", message = "The request failed" }: Data = Object(error);
  return { code: String(code), module: String(module), message: String(message) };
};

export function readJoined(online: Data): Joined | null {
  const { room, follows, seq, epoch, changes } = online;
  if (!isRoom(room) || !isCount(seq)) return null;
  return {
    access: readAccess(online),
    room,
    online,
    follows: readFollows(follows),
    seq,
    epoch,
    changes: Array.isArray(changes) ? changes.filter(isRecord).flatMap(readEvent) : null,
  };
}

export const readAccess = ({ role, permissions }: Data): Access => ({
  permissions: isTexts(permissions) ? assumeType(permissions) : [],
  role: role === "editor" ? role : "viewer",
});

/** Whether these permissions allow changes of the resource. */
export const canWrite = (permissions: readonly Permission[], resource: Resource): boolean =>
  permissions.includes("*:write") || permissions.includes(`${resource}:write`);

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

const isResource = (value: unknown, field: string): boolean =>
  isRecord(value) && isTexts([value.id, value[field]]);

export const isRoom = (value: unknown): value is Room => isResource(value, "name");

export const isUser = (value: unknown): value is UserRecord => isResource(value, "name");

export const isComment = (value: unknown): value is Comment => isResource(value, "text");

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** `fromEntries` makes even `__proto__` an own property. */
export const readFollows = (value: unknown): Joined["follows"] =>
  Object.fromEntries(
    Object.entries(Object(value)).flatMap(([userId, followed]) =>
      isTexts(followed) ? [[userId, followed]] : [],
    ),
  );

export const listOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] =>
  Array.isArray(value) ? value.filter(isItem) : [];
