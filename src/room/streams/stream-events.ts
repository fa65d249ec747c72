/** Parts of streams as Server-Sent Events, and the cursors of live reads. */
import { bytesToBase64 } from "../../platform/crypto/encoding.ts";
import { serverSentEvent } from "../protocol/server-sent-event.ts";
import { isJson, MESSAGE_END, mediaTypeOf, type StreamPart } from "../types/streams.ts";

const CARRIAGE_RETURN = 0x0d;
const [OPENING_BRACKET, COMMA, CLOSING_BRACKET] = [0x5b, 0x2c, 0x5d];

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export const isPlainText = (contentType: string): boolean => mediaTypeOf(contentType).startsWith("text/");

/** True for a type whose bytes are sent as the text that they are. */
export const isSentAsText = (contentType: string): boolean => isJson(contentType) || isPlainText(contentType);

/** The data events of parts that several readers are sent. */
const encoded = new WeakMap<Uint8Array, Uint8Array>();

/** A data event, or nothing where there is no data. */
export function dataEventOf({ contentType, data }: StreamPart): Uint8Array {
  if (data.length === 0) return data;
  const known = encoded.get(data);
  if (known !== undefined) return known;
  const text = isSentAsText(contentType) ? textOf(contentType, data) : bytesToBase64(data);
  const event = encoder.encode(serverSentEvent("data", text));
  encoded.set(data, event);
  return event;
}

/** The event after the data of a part, which tells where to go on. */
export function controlEventOf({ next, isClosed, isUpToDate }: StreamPart, cursor: string): Uint8Array {
  const control = {
    streamNextOffset: next,
    ...(isClosed ? { streamClosed: true } : { streamCursor: cursor }),
    ...(isUpToDate && { upToDate: true }),
  };
  return encoder.encode(serverSentEvent("control", JSON.stringify(control)));
}

const textOf = (contentType: string, bytes: Uint8Array): string =>
  decoder.decode(isJson(contentType) ? jsonOf(bytes) : bytes);

/** The messages as a JSON array. */
export function jsonOf(messages: Uint8Array): Uint8Array<ArrayBuffer> {
  const array = new Uint8Array(Math.max(2, messages.length + 1));
  array.set(messages, 1);
  for (let at = array.indexOf(MESSAGE_END); at > 0; at = array.indexOf(MESSAGE_END, at)) array[at] = COMMA;
  array[0] = OPENING_BRACKET;
  array[array.length - 1] = CLOSING_BRACKET;
  return array;
}

/** The length of a UTF-8 character at the end that lacks bytes, or of a carriage return; 0 for none. */
export function unfinishedLength(bytes: Uint8Array): number {
  if (bytes.at(-1) === CARRIAGE_RETURN) return 1;
  for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length : 0;
  }
  return 0;
}

const CURSOR_EPOCH = Date.UTC(2024, 9, 9);
const CURSOR_INTERVAL_MS = 20_000;
const MAX_JITTER = 180;

const intervalAt = (now: number): number => Math.floor((now - CURSOR_EPOCH) / CURSOR_INTERVAL_MS);

/** The cursor of a later event of the response that began with one. */
export const laterCursor = (first: string, now: number): string =>
  String(Math.max(Number(first), intervalAt(now)));

/** The cursor of a response: the number of its interval, and always above the one before, so that no cache loops. */
export function cursorAfter(before: string | null, now: number): string {
  const interval = intervalAt(now);
  const earlier = before !== null && /^\d{1,15}$/.test(before) ? Number(before) : -1;
  if (earlier < interval) return String(interval);
  return String(earlier + 1 + Math.floor(Math.random() * MAX_JITTER));
}
