/** The headers of the Durable Streams protocol. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import * as z from "zod";
import { type ProducerTurn, StreamRefused, type StreamState } from "../../../room/types/streams.ts";

export const invalid = (why: string) => new StreamRefused("BAD_REQUEST", why);

const WHOLE = /^(0|[1-9]\d{0,15})$/;
const Time = z.iso.datetime({ offset: true });
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;[\x20-\x7e]*)?$/;

/** Longer times are of no use, and overflow. */
const MAX_TTL_SECONDS = 100 * 365 * 86_400;

function numberIn(headers: Headers, name: string, max = Number.MAX_SAFE_INTEGER): number | null {
  const text = headers.get(name);
  if (text === null) return null;
  const number = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (!(number <= max)) throw invalid(`${name}: must be a whole number up to ${max}, in decimal digits`);
  return number;
}

export function shortHeader(headers: Headers, name: string): string | null {
  const text = headers.get(name);
  if (text !== null && text.length > STREAM_LIMITS.headerLength)
    throw invalid(`${name}: can have at most ${STREAM_LIMITS.headerLength} characters`);
  return text;
}

/** The type of a stream to create; null without the header. */
export function contentTypeIn(headers: Headers): string | null {
  const text = shortHeader(headers, "Content-Type");
  if (text !== null && !MEDIA_TYPE.test(text))
    throw invalid("Content-Type: must be a type such as text/plain");
  return text;
}

/** Any other value than `true` means nothing. */
export const closesStream = (headers: Headers): boolean =>
  headers.get("Stream-Closed")?.toLowerCase() === "true";

export function timesIn(headers: Headers): { ttlSeconds: number | null; expiresAt: number | null } {
  const ttlSeconds = numberIn(headers, "Stream-TTL", MAX_TTL_SECONDS);
  const text = headers.get("Stream-Expires-At");
  if (ttlSeconds !== null && text !== null) throw invalid("Send Stream-TTL or Stream-Expires-At, not both");
  const expiresAt = text === null ? null : Time.safeParse(text).success ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(expiresAt)) throw invalid("Stream-Expires-At: must be a time as of RFC 3339");
  return { ttlSeconds, expiresAt };
}

/** The fork that a request asks for; null for none. `prefix` is the path of the room's streams. */
export function forkIn(headers: Headers, prefix: string) {
  const path = headers.get("Stream-Forked-From");
  const offset = headers.get("Stream-Fork-Offset");
  const beyond = numberIn(headers, "Stream-Fork-Sub-Offset");
  if (path === null) {
    if (offset !== null || beyond !== null) throw invalid("Stream-Forked-From: is missing");
    return null;
  }
  return { name: nameIn(path, prefix), offset, beyond: beyond ?? 0 };
}

/** NOT_FOUND for a stream of another room. */
function nameIn(path: string, prefix: string): string {
  if (!path.startsWith(prefix))
    throw new StreamRefused("NOT_FOUND", `Stream-Forked-From: must be a stream of this room: ${prefix}…`);
  try {
    return decodeURIComponent(path.slice(prefix.length));
  } catch {
    throw invalid("Stream-Forked-From: is not a path");
  }
}

/** All three headers of a producer, or null for none. */
export function producerIn(headers: Headers): ProducerTurn | null {
  const id = shortHeader(headers, "Producer-Id");
  const epoch = numberIn(headers, "Producer-Epoch");
  const seq = numberIn(headers, "Producer-Seq");
  if (id === null && epoch === null && seq === null) return null;
  if (id === null || id === "" || epoch === null || seq === null)
    throw invalid("Send Producer-Id, Producer-Epoch and Producer-Seq together, and no empty name");
  return { id, epoch, seq };
}

/** The headers that every answer has. */
export const headersOf = ({
  contentType,
  next,
  isClosed,
}: StreamState): Readonly<Record<string, string>> => ({
  "Content-Type": contentType,
  "Stream-Next-Offset": next,
  ...(isClosed && { "Stream-Closed": "true" }),
});

/** The headers of a stream's times. */
export const timesOf = ({ ttlSeconds, expiresAt }: StreamState): Readonly<Record<string, string>> => ({
  ...(ttlSeconds !== null && { "Stream-TTL": String(ttlSeconds) }),
  ...(expiresAt !== null && { "Stream-Expires-At": new Date(expiresAt).toISOString() }),
});
