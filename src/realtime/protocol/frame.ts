/** Reads what comes over a socket: size, depth, JSON, and the schema of the message that it sets out to be. */
import type * as z from "zod";
import { isTooDeep } from "../../http/body.ts";
import type { ErrorCode } from "../../platform/error-codes.ts";
import { byteLength, MAX_FRAME_DEPTH } from "./limits.ts";
import { ClientMessage, isRecord, MESSAGE_TYPES, RequestId } from "./messages.ts";
import { type Fault, MAX_FRAME_BYTES } from "./protocol.ts";

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

/** It never throws: whatever can be wrong with a frame is an outcome. */
export function parseFrame(frame: string | ArrayBuffer): Frame {
  if (exceedsLimit(frame)) return { kind: "tooLarge" };
  if (typeof frame !== "string") return faulty("BAD_REQUEST", "Frames must be text");
  // JSON.parse takes any depth, but what is kept must be written again, which recurses.
  if (isTooDeep(frame, MAX_FRAME_DEPTH))
    return faulty("BAD_REQUEST", `A message nests ${MAX_FRAME_DEPTH} levels deep at most`);
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

/** Counts bytes only where the number of UTF-16 units (1 to 3 bytes each) leaves it open. */
function exceedsLimit(frame: string | ArrayBuffer): boolean {
  if (typeof frame !== "string") return frame.byteLength > MAX_FRAME_BYTES;
  if (frame.length > MAX_FRAME_BYTES) return true;
  return frame.length * 3 > MAX_FRAME_BYTES && byteLength(frame) > MAX_FRAME_BYTES;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
