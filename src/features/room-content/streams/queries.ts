/** Reads streams, as requests of the Durable Streams protocol ask for it. */
import type { StreamSummary } from "@atrium/contract/rest/streams.ts";
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import type { RequireCaller } from "../../../http/endpoint.ts";
import { writerOf } from "../../../platform/d1/rights.ts";
import { BEGINNING, END, parseOffset } from "../../../room/streams/offsets.ts";
import { cursorAfter, jsonOf } from "../../../room/streams/stream-events.ts";
import { isJson, type ListedStream, type StreamPart } from "../../../room/types/streams.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import { CheckedCaller, checked } from "../raw-answers.ts";
import type { StreamPlace } from "./commands.ts";
import { headersOf, invalid, timesOf } from "./stream-headers.ts";

/** The tail of a stream changes, and so does the access to it. */
const NOT_STORED = { "Cache-Control": "no-store" };
/** Bytes at an offset never change, but the stream may be deleted. */
const STORED = { "Cache-Control": "private, max-age=60, stale-while-revalidate=300" };
const REVALIDATED = { "Cache-Control": "private, no-cache" };

export async function listStreams(ctx: LiveRoomContext, roomId: string, after: string, limit: number) {
  await getRoomRow(ctx, roomId);
  return ctx.rooms.stub(roomId).listStreams(ctx.accountId, after, limit);
}

const timeOf = (at: number): string => new Date(at).toISOString();

export const presentStream = (stream: ListedStream): StreamSummary => ({
  name: stream.name,
  content_type: stream.contentType,
  next_offset: stream.next,
  bytes: stream.bytes,
  closed: stream.isClosed,
  ttl_seconds: stream.ttlSeconds,
  expires_at: stream.expiresAt === null ? null : timeOf(stream.expiresAt),
  created_at: timeOf(stream.createdAt),
});

export async function describeStream(ctx: LiveRoomContext, place: StreamPlace): Promise<Response> {
  await getRoomRow(ctx, place.roomId);
  const state = await ctx.rooms.describeStream(place.roomId, ctx.accountId, place.stream);
  const headers = { ...headersOf(state), ...timesOf(state), ...NOT_STORED };
  return new Response(null, { headers });
}

/** The value of a parameter; null without it. BAD_REQUEST for several, or an empty one. */
function oneOf(query: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = query.getAll(name);
  if (others.length > 0 || value === "") throw invalid(`${name}: send one value, or leave it out`);
  return value;
}

/** Reads what is there, or waits for more with `live`. */
export async function readStream(
  ctx: LiveRoomContext,
  place: StreamPlace,
  request: Request,
  requireCaller: RequireCaller,
): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const [from, live, cursor] = [oneOf(query, "offset"), oneOf(query, "live"), oneOf(query, "cursor")];
  const { accountId, rooms } = ctx;
  await getRoomRow(ctx, place.roomId);
  if (live === null) {
    const read = { name: place.stream, from: from ?? BEGINNING, writer: writerOf(ctx) };
    return respondNow(await rooms.readStream(place.roomId, accountId, read, 0), from, request);
  }
  if (from === null) throw invalid("offset: is needed to read live; -1 is the beginning");
  const read = { name: place.stream, from, writer: writerOf(ctx) };
  switch (live) {
    case "long-poll": {
      const caller = new CheckedCaller(ctx, requireCaller);
      const part = await rooms.readStream(place.roomId, accountId, read, STREAM_LIMITS.longPollMs);
      await caller.check();
      return respondLater(part, cursorAfter(cursor, ctx.now()));
    }
    case "sse": {
      const response = await rooms.streamEvents(place.roomId, { ...read, accountId, cursor });
      return checked(response, ctx, requireCaller);
    }
    default:
      throw invalid("live: must be long-poll or sse");
  }
}

const bodyOf = ({ contentType, data }: StreamPart): Uint8Array<ArrayBuffer> =>
  isJson(contentType) ? jsonOf(data) : new Uint8Array(data);

const headersOfPart = (part: StreamPart) => ({
  ...headersOf(part),
  ...(part.isUpToDate && { "Stream-Up-To-Date": "true" }),
});

function respondNow(part: StreamPart, from: string | null, request: Request): Response {
  if (from === END) {
    const body = isJson(part.contentType) ? "[]" : null;
    return new Response(body, { headers: { ...headersOfPart(part), ...NOT_STORED } });
  }
  const etag = `"${part.id}:${part.from}:${part.next}${part.isClosed ? ":c" : part.isUpToDate ? ":e" : ""}"`;
  const isFixed = from !== null && from !== BEGINNING && !part.isUpToDate && isOfOneFamily(part);
  const headers = { ...headersOfPart(part), ...(isFixed ? STORED : REVALIDATED), ETag: etag };
  const known = request.headers
    .get("If-None-Match")
    ?.split(",")
    .map((each) => each.trim().replace(/^W\//, ""));
  if (known?.some((each) => each === etag || each === "*"))
    return new Response(null, { status: 304, headers });
  return new Response(bodyOf(part), { headers });
}

/** Bytes between two offsets of one family are the same for good; a fork may be made anew where its own ones begin. */
const isOfOneFamily = ({ from, next }: StreamPart): boolean =>
  parseOffset(from)?.root === parseOffset(next)?.root;

/** The answer to a long poll: 204 if nothing came. */
function respondLater(part: StreamPart, cursor: string): Response {
  const headers = {
    ...headersOfPart(part),
    ...NOT_STORED,
    ...(!part.isClosed && { "Stream-Cursor": cursor }),
  };
  if (part.data.length === 0) return new Response(null, { status: 204, headers });
  return new Response(bodyOf(part), { headers });
}
