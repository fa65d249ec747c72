/** Parts of streams as Server-Sent Events, and the cursors of live reads. */
import { isJson, MESSAGE_END, mediaTypeOf, type StreamPart } from "../types/streams.ts";
import { offsetOf, parseOffset } from "./offsets.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** True for a type whose bytes are sent as the text that they are. */
export const isSentAsText = (contentType: string): boolean =>
  isJson(contentType) || mediaTypeOf(contentType).startsWith("text/");

interface Events {
  readonly text: Uint8Array;
  /** The offset that the events lead to. */
  readonly next: string;
}

/** The bytes of a part that events can have now: a character that is not whole yet waits for the next part. */
export function sendableOf({ contentType, data, isClosed }: StreamPart): Uint8Array {
  const isCut = isSentAsText(contentType) && !isJson(contentType) && !isClosed;
  return isCut ? data.subarray(0, data.length - unfinishedLength(data)) : data;
}

/** A data event, unless there is nothing to send, and a control event. */
export function eventsOf(part: StreamPart, cursor: string): Events {
  const { contentType, data, isClosed, isUpToDate } = part;
  const isText = isSentAsText(contentType);
  const sent = sendableOf(part);
  const next = sent.length === data.length ? part.next : back(part.next, data.length - sent.length);
  const control = {
    streamNextOffset: next,
    ...(isClosed ? { streamClosed: true } : { streamCursor: cursor }),
    ...(isUpToDate && { upToDate: true }),
  };
  const events = [
    ...(sent.length === 0 ? [] : [eventOf("data", isText ? textOf(contentType, sent) : base64Of(sent))]),
    eventOf("control", JSON.stringify(control)),
  ];
  return { text: encoder.encode(events.join("")), next };
}

/** A line of an event ends at any kind of line break. Clients drop a space at its beginning, and some drop no more. */
const eventOf = (name: string, data: string): string =>
  `event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data:${line.startsWith(" ") ? " " : ""}${line}\n`)
    .join("")}\n`;

const textOf = (contentType: string, bytes: Uint8Array): string =>
  decoder.decode(isJson(contentType) ? jsonOf(bytes) : bytes);

/** The messages as a JSON array. */
export function jsonOf(messages: Uint8Array): Uint8Array<ArrayBuffer> {
  const array = new Uint8Array(Math.max(2, messages.length + 1));
  array[0] = 0x5b;
  array.set(
    messages.map((byte) => (byte === MESSAGE_END ? 0x2c : byte)),
    1,
  );
  array[array.length - 1] = 0x5d;
  return array;
}

function base64Of(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte));
  return btoa(binary.join(""));
}

/** The length of a UTF-8 character at the end that lacks bytes; 0 for none. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length : 0;
  }
  return 0;
}

function back(offset: string, bytes: number): string {
  const { root, position } = parseOffset(offset) ?? { root: 0, position: bytes };
  return offsetOf(root, position - bytes);
}

const CURSOR_EPOCH = Date.UTC(2024, 9, 9);
const CURSOR_INTERVAL_MS = 20_000;
const MAX_JITTER = 180;

/** The cursor of a response: the number of its interval, and always above the one before, so that no cache loops. */
export function cursorAfter(before: string | null, now: number): string {
  const interval = Math.floor((now - CURSOR_EPOCH) / CURSOR_INTERVAL_MS);
  const earlier = before !== null && /^\d{1,15}$/.test(before) ? Number(before) : -1;
  if (earlier < interval) return String(interval);
  return String(earlier + 1 + Math.floor(Math.random() * MAX_JITTER));
}
