/** Frames as text: parses what a client sends and serializes what the server sends. */

import type * as z from "zod";
import type { ErrorCode } from "../../platform/errors.ts";
import { describeField } from "../../platform/issues.ts";
import { byteLength, describeOverflow, findOverflow, isTooDeep, parseJson } from "../../platform/text.ts";
import { LIMITS } from "./limits.ts";
import { ClientMessage, isRecord, parseMove, RequestId } from "./messages.ts";
import type { Fault, Response, ServerMessage } from "./protocol.ts";

/** A parsed frame. `attempted` is the message type that a faulty frame named. */
type Frame =
  | { readonly kind: "message"; readonly message: ClientMessage }
  | {
      readonly kind: "fault";
      readonly attempted: string | null;
      readonly fault: Fault;
      readonly requestId: string | undefined;
    }
  | { readonly kind: "tooLarge" };
export type ReadableFrame = Exclude<Frame, { readonly kind: "tooLarge" }>;

const MESSAGE_TYPES: ReadonlySet<unknown> = new Set(
  ClientMessage.options.map((option) => option.shape.type.value),
);

/** Never throws: everything that can be wrong with a frame is an outcome. */
export function parseFrame(frame: string | ArrayBuffer): Frame {
  if (exceedsLimit(frame)) return { kind: "tooLarge" };
  if (typeof frame !== "string") return faulty("BAD_REQUEST", "Frames must be text");
  // JSON.parse accepts any depth, but stored values are serialized again, which recurses.
  if (isTooDeep(frame, LIMITS.frameDepth))
    return faulty("BAD_REQUEST", `A message can nest at most ${LIMITS.frameDepth} levels`);
  const json = parseJson(frame);
  if (!isRecord(json)) return faulty("BAD_REQUEST", "A message must be a JSON object");
  const requestId = json.requestId === undefined ? undefined : RequestId.safeParse(json.requestId).data;
  if (!MESSAGE_TYPES.has(json.type)) return faulty("BAD_REQUEST", "Unknown message type", requestId);
  const overflow = findOverflow(json.data);
  if (overflow !== null)
    return faulty("VALIDATION_ERROR", describeOverflow(overflow, "data"), requestId, String(json.type));
  const move = json.type === "PRESENCE_UPDATE" ? parseMove(json.data) : null;
  if (move !== null) return { kind: "message", message: { type: "PRESENCE_UPDATE", requestId, data: move } };
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

/** `data.role: must be one of …`: the field first, so that the sender finds it. */
function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? "Invalid message" : describeField(issue.path.join("."), issue.message);
}

/** Counts bytes only if the number of UTF-16 units (1 to 3 bytes each) leaves the result open. */
function exceedsLimit(frame: string | ArrayBuffer): boolean {
  if (typeof frame !== "string") return frame.byteLength > LIMITS.frameBytes;
  if (frame.length > LIMITS.frameBytes) return true;
  return frame.length * 3 > LIMITS.frameBytes && byteLength(frame) > LIMITS.frameBytes;
}

/** `data` of a message, or a field of it, that is JSON text already: it is sent without being parsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The JSON of an object; its fields that are JSON text already become part of it. Undefined ones are left out. */
  static of(fields: Readonly<Record<string, unknown>>): JsonText {
    let members = "";
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const text = value instanceof JsonText ? value.text : JSON.stringify(value);
      members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
    }
    return new JsonText(`{${members}}`);
  }
}

/** The room's messages. Presence is text already. */
export type Sendable =
  | ServerMessage
  | { readonly type: "event"; readonly event: "presence"; readonly data: JsonText };

export const serialize = (message: Sendable): string =>
  message.data instanceof JsonText ? JsonText.of({ ...message }).text : JSON.stringify(message);

/** For failures that no one expected; the log has the cause. */
export const INTERNAL_FAULT: Fault = {
  module: "Server",
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side",
};

/** For what a user, or everyone together, cannot afford right now. */
export const TOO_MUCH: Fault = {
  module: "Rooms",
  code: "RATE_LIMITED",
  message: "Too much is being asked of the room at once; wait for some answers, then send this again",
};

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
