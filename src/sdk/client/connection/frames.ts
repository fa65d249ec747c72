/** Reads what the service says, checked by hand: what is unknown or malformed is passed over, never trusted. */
import type { Fault } from "../../core/error.ts";
import { isRecord } from "../../core/json.ts";
import type { Comment, Role, Room, UserRecord } from "../../wire/resources.ts";

export type Data = Readonly<Record<string, unknown>>;

/** The answer to a request; `fault` is null for a success. */
export interface ResponseFrame {
  readonly kind: "answer";
  readonly requestId: string;
  readonly data: Data;
  readonly fault: Fault | null;
}

/** What is told unasked; a lasting change has the next `seq` of its room. */
export interface EventFrame {
  readonly kind: "event";
  readonly event: string;
  readonly data: Data;
  readonly seq: number | null;
}

export type Message = ResponseFrame | EventFrame;

/** The answer to `JOIN_ROOM`. */
export interface Joined {
  readonly room: Room;
  readonly role: Role;
  readonly users: readonly UserRecord[];
  readonly follows: Readonly<Record<string, readonly string[]>>;
  readonly seq: number;
  /** What was missed; null when everything must be asked for anew. */
  readonly changes: readonly EventFrame[] | null;
}

/** The messages of a frame: it holds one, or an array of them. */
export function parseFrame(text: string): Message[] {
  const json = parseJson(text);
  return (Array.isArray(json) ? json : [json]).flatMap(readMessage);
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
  const data = isRecord(json.data) ? json.data : {};
  if (json.type === "event") return readTold(json);
  if (json.type !== "response" || typeof json.requestId !== "string") return [];
  const fault = json.success === true ? null : readFault(json.error);
  return { kind: "answer", requestId: json.requestId, data, fault };
}

function readTold({ event, data, seq }: Data): EventFrame | [] {
  if (typeof event !== "string" || !isRecord(data)) return [];
  return { kind: "event", event, data, seq: isCount(seq) ? seq : null };
}

const readFault = (error: unknown): Fault => {
  const { code, module, message } = isRecord(error) ? error : {};
  return {
    code: typeof code === "string" ? code : "INTERNAL_ERROR",
    module: typeof module === "string" ? module : "Server",
    message: typeof message === "string" ? message : "The request failed",
  };
};

/** Null when the answer is not one to `JOIN_ROOM`. */
export function readJoined({ room, role, users, follows, seq, changes }: Data): Joined | null {
  if (!isRoom(room) || !isCount(seq)) return null;
  return {
    room,
    role: role === "editor" ? role : "viewer",
    users: listOf(users, isUser),
    follows: recordOf(follows, isTexts),
    seq,
    changes: Array.isArray(changes) ? changes.filter(isRecord).flatMap(readTold) : null,
  };
}

/** A whole number that is not negative. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

export const isRoom = (value: unknown): value is Room =>
  isRecord(value) && typeof value.id === "string" && typeof value.name === "string";

export const isUser = (value: unknown): value is UserRecord =>
  isRecord(value) && typeof value.id === "string" && typeof value.name === "string";

export const isComment = (value: unknown): value is Comment =>
  isRecord(value) && typeof value.id === "string" && typeof value.text === "string";

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** Those of a list that are what they should be. */
export const listOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] =>
  Array.isArray(value) ? value.filter(isItem) : [];

/** Those of a record that are what they should be; `fromEntries` makes own properties of all keys. */
export const recordOf = <Item>(
  value: unknown,
  isItem: (item: unknown) => item is Item,
): Readonly<Record<string, Item>> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).flatMap(([key, item]) =>
      isItem(item) ? [[key, item]] : [],
    ),
  );
