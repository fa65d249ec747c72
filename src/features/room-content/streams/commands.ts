/** Creates, appends to and deletes streams, as requests of the Durable Streams protocol ask for it. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import { fits } from "@atrium/contract/text.ts";
import { readBody } from "../../../http/request-input.ts";
import { writerOf } from "../../../platform/d1/rights.ts";
import { isJson } from "../../../room/types/streams.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { requireOpenRoom } from "../../rooms/queries.ts";
import { messagesOf } from "./json-messages.ts";
import {
  closesStream,
  contentTypeIn,
  forkIn,
  headersOf,
  invalid,
  producerIn,
  shortHeader,
  timesIn,
  timesOf,
} from "./stream-headers.ts";

export interface StreamPlace {
  readonly roomId: string;
  readonly stream: string;
}

/** Browsers take two of these names for folders, and the third one is the protocol's own. */
const RESERVED: readonly string[] = [".", "..", "__ds"];

function requireName(name: string): void {
  if (RESERVED.includes(name)) throw invalid(`A stream cannot have the name ${name}`);
  if (!fits(name, STREAM_LIMITS.streamNameLength))
    throw invalid(`The stream's name is too long: at most ${STREAM_LIMITS.streamNameLength} characters`);
}

/** The bytes to store. An empty array of JSON has none: BAD_REQUEST unless `mayBeEmpty`. */
async function dataOf(
  request: Request,
  contentType: string | null,
  mayBeEmpty: boolean,
): Promise<Uint8Array> {
  const body = await readBody(request, "Rooms", STREAM_LIMITS.appendBytes);
  if (body.length === 0 || contentType === null || !isJson(contentType)) return body;
  const messages = messagesOf(body);
  if (messages.length === 0 && !mayBeEmpty) throw invalid("The array is empty: send messages");
  return messages;
}

const userIdOf = ({ actor }: LiveRoomContext): string | null => (actor.type === "user" ? actor.userId : null);

/** Answers 201 for a new stream, and 200 for one that is as the request wants it. */
export async function createStream(ctx: LiveRoomContext, { roomId, stream }: StreamPlace, request: Request) {
  const { headers, url } = request;
  requireName(stream);
  await requireOpenRoom(ctx, roomId);
  const { pathname } = new URL(url);
  const fork = forkIn(headers, pathname.slice(0, pathname.lastIndexOf("/") + 1));
  const contentType = contentTypeIn(headers);
  const data = await dataOf(request, contentType, true);
  if (fork !== null && contentType === null && data.length > 0)
    throw invalid("Content-Type: is missing; send the source's");
  const { isNew, state } = await ctx.rooms.createStream(roomId, ctx.accountId, stream, {
    ...{ contentType, ...timesIn(headers), closes: closesStream(headers), fork },
    ...{ data, userId: userIdOf(ctx), writer: writerOf(ctx) },
  });
  const location = isNew ? { Location: url } : {};
  const shown = { ...headersOf(state), ...timesOf(state), ...location };
  return new Response(null, { status: isNew ? 201 : 200, headers: shown });
}

/** Answers 200 to a producer's append, and 204 to all others, repetitions and a close without an append. */
export async function appendToStream(
  ctx: LiveRoomContext,
  { roomId, stream }: StreamPlace,
  request: Request,
) {
  const { headers } = request;
  if (headers.has("Idempotency-Key"))
    throw invalid("Streams take no Idempotency-Key: send Producer-Id, Producer-Epoch and Producer-Seq");
  await requireOpenRoom(ctx, roomId);
  const [producer, closes] = [producerIn(headers), closesStream(headers)];
  const sent = shortHeader(headers, "Content-Type");
  const data = await dataOf(request, sent, false);
  if (data.length === 0 && !closes)
    throw invalid("The body is empty: send what to append, or Stream-Closed: true");
  const order = shortHeader(headers, "Stream-Seq");
  const {
    isNew,
    state,
    producer: turn,
  } = await ctx.rooms.appendToStream(roomId, ctx.accountId, stream, {
    ...{ contentType: sent, data, closes, producer, order },
    ...{ userId: userIdOf(ctx), writer: writerOf(ctx) },
  });
  const { "Content-Type": _, ...answer } = headersOf(state);
  const latest = turn && { "Producer-Epoch": String(turn.epoch), "Producer-Seq": String(turn.seq) };
  return new Response(null, {
    status: isNew && producer !== null && data.length > 0 ? 200 : 204,
    headers: { ...answer, ...latest },
  });
}

export async function deleteStream(ctx: LiveRoomContext, { roomId, stream }: StreamPlace): Promise<Response> {
  await requireOpenRoom(ctx, roomId);
  await ctx.rooms.deleteStream(roomId, ctx.accountId, stream, writerOf(ctx));
  return new Response(null, { status: 204 });
}
