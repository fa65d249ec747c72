/** Parses the text frames of clients. */

import type { ErrorCode } from "@atrium/contract/errors.ts";
import { describeField, fieldOf, ownIssues } from "@atrium/contract/issues.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { parseMove } from "@atrium/contract/operations/presence.ts";
import {
  type ClientMessage,
  isMessageType,
  type MessageType,
  parseMessage,
} from "@atrium/contract/operations/room.ts";
import { isRecord, RequestId } from "@atrium/contract/operations/values.ts";
import { byteLength, describeOverflow, findOverflow, isTooDeep, parseJson } from "@atrium/contract/text.ts";
import type * as z from "zod";
import type { Fault } from "./protocol.ts";

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
  const { type, data: sent } = json;
  if (!isMessageType(type)) return faulty("BAD_REQUEST", "Unknown message type", requestId);
  const invalid = (why: string) => faulty("VALIDATION_ERROR", why, requestId, type);
  const move = type === "PRESENCE_UPDATE" ? parseMove(sent) : null;
  const parsed = move === null ? parseMessage(type, sent ?? {}) : { success: true as const, data: move };
  if (!parsed.success) return invalid(describeIssue(parsed.error));
  // Free JSON has no schema. A field of another type was refused for that.
  const overflow = findOverflow(sent);
  if (overflow !== null) return invalid(describeOverflow(["data", ...overflow], "data"));
  return { kind: "message", message: asMessage(type, requestId, parsed.data) };
}

/** The message whose data the schema of its type has parsed. */
const asMessage = (type: MessageType, requestId: string | undefined, data: unknown): ClientMessage =>
  ({ type, requestId, data }) as ClientMessage;

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
  const [issue] = ownIssues(error.issues);
  return issue === undefined
    ? "Invalid message"
    : describeField(fieldOf(["data", ...issue.path]), issue.message);
}

/** Counts bytes only if the number of UTF-16 units (1 to 3 bytes each) leaves the result open. */
function exceedsLimit(frame: string | ArrayBuffer): boolean {
  if (typeof frame !== "string") return frame.byteLength > LIMITS.frameBytes;
  if (frame.length > LIMITS.frameBytes) return true;
  return frame.length * 3 > LIMITS.frameBytes && byteLength(frame) > LIMITS.frameBytes;
}
