/** The endpoints of a room's streams, which speak the Durable Streams protocol. */

import { Cursor, paging } from "@atrium/contract/rest/lists.ts";
import { StreamSummary } from "@atrium/contract/rest/streams.ts";
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { failure } from "../../../http/envelope.ts";
import { decodeCursor, encodeCursor } from "../../../http/lists.ts";
import { BodyTooLarge } from "../../../http/request-input.ts";
import { StreamRefused } from "../../../room/types/streams.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { withRawHeaders } from "../raw-answers.ts";
import { appendToStream, createStream, deleteStream } from "./commands.ts";
import { describeStream, listStreams, presentStream, readStream } from "./queries.ts";

const { endpoint, rawEndpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const PATH = "/rooms/:roomId/streams/:stream";

/** Refuses as the protocol has it: with its headers, and with its status for large bodies. */
function refuse(error: unknown, requestId: string): Response {
  if (error instanceof BodyTooLarge) {
    const { body, headers } = failure(error, requestId);
    return new Response(body, { status: 413, headers });
  }
  if (!(error instanceof StreamRefused)) throw error;
  const refused = failure(error, requestId);
  for (const [name, value] of Object.entries(error.headers)) refused.headers.set(name, value);
  return refused;
}

async function answer(ctx: RoomContext, work: () => Promise<Response>): Promise<Response> {
  return withRawHeaders(await work().catch((error: unknown) => refuse(error, ctx.requestId)));
}

const After = Cursor.transform((cursor, context) => {
  const name = decodeCursor(z.string(), cursor);
  if (name === null)
    context.addIssue("must be the `cursor` of an earlier page; leave it out to start at the first page");
  return name ?? z.NEVER;
})
  .optional()
  .meta({
    description: "The `cursor` of an earlier page: the streams that follow it.",
    example: encodeCursor("answer"),
  });

const header = (description: string, example: string) => z.string().optional().meta({ description, example });

const OFFSET = "1764578400000000_0000000000000042";

/** The headers of both kinds of writes. */
const WRITTEN = {
  "Content-Type": header("The type of the stream, `application/octet-stream` by default.", "text/plain"),
  "Stream-Closed": header("`true` for the last content; other values mean nothing.", "true"),
};

const CreationHeaders = z.object({
  ...WRITTEN,
  "Stream-TTL": header("Seconds without reads and writes after which the stream is deleted.", "3600"),
  "Stream-Expires-At": header("When the stream is deleted, instead of `Stream-TTL`.", "2035-01-31T09:30:00Z"),
  "Stream-Forked-From": header("The path of the address of another stream of the room.", "/v1/accounts/…"),
  "Stream-Fork-Offset": header("Where the fork begins; the source's end by default.", OFFSET),
  "Stream-Fork-Sub-Offset": header("Bytes, or messages of JSON, after that offset.", "0"),
});

const AppendHeaders = z.object({
  ...WRITTEN,
  "Producer-Id": header("The name of the producer.", "job"),
  "Producer-Epoch": header("A later one than that of the producer's life before.", "0"),
  "Producer-Seq": header("The number of the append in the epoch, from 0 on.", "0"),
  "Stream-Seq": header("Text that must come after that of the append before.", "0001"),
});

const ReadQuery = z.object({
  offset: header("A `Stream-Next-Offset`, `-1` for the beginning, or `now` for the end.", "-1"),
  live: z
    .enum(["long-poll", "sse"])
    .optional()
    .meta({ description: "Waits for more: for one answer, or as Server-Sent Events.", example: "sse" }),
  cursor: header("The `Stream-Cursor` of the answer before.", "3384323"),
});

const ReadHeaders = z.object({ "If-None-Match": header("The `ETag` of an answer.", '"1:2:3"') });

const MAX_MIB = STREAM_LIMITS.appendBytes / 1024 ** 2;

export const endpoints = [
  endpoint({
    right: "read",
    method: "GET",
    path: "/rooms/:roomId/streams",
    operation: "listStreams",
    sdk: [
      'streams.list(roomId, page?: Pick<Scroll, "limit" | "after">): data',
      "streams.each(roomId): each streams",
    ],
    summary: "List a room's streams",
    details: "By name.",
    errors: ["NOT_FOUND"],
    query: z.object({ limit: paging.limit, after: After }),
    done: "Streams retrieved",
    data: z.object({
      streams: z.array(StreamSummary),
      cursor: z.string().nullable().meta({ description: "For the next page; null for the last one." }),
    }),
    handle: async (ctx, { params, query: { limit, after = "" } }) => {
      const { streams, next } = await listStreams(ctx, params.roomId, after, limit);
      return { streams: streams.map(presentStream), cursor: next && encodeCursor(next) };
    },
  }),
  rawEndpoint({
    right: "streams:write",
    method: "PUT",
    path: PATH,
    operation: "createStream",
    insteadOfSdk: "`create()` of a stream of `atrium/streams` sends it.",
    summary: "Create a stream",
    details: `Or confirm one with this configuration: its \`Content-Type\`, \`Stream-TTL\` or \`Stream-Expires-At\`, and \`Stream-Closed\`. The body, up to ${MAX_MIB} MiB, is its first content. With \`Stream-Forked-From\`, the path of another stream of the room, it begins with what that one has, up to \`Stream-Fork-Offset\`.`,
    errors: ["NOT_FOUND"],
    conflict: [
      "A stream with another configuration has the name, or forks still read a deleted one of the name.",
      "Delete it, or choose another name.",
    ],
    headers: CreationHeaders,
    answers: { 200: "The stream exists as the request wants it.", 201: "The stream was created." },
    respond: (ctx, { params }, request) => answer(ctx, () => createStream(ctx, params, request)),
  }),
  rawEndpoint({
    right: "streams:write",
    method: "POST",
    path: PATH,
    operation: "appendToStream",
    insteadOfSdk: "`append()`, and a writer, of a stream of `atrium/streams` send it.",
    summary: "Append to a stream",
    details: `Up to ${MAX_MIB} MiB, in the stream's \`Content-Type\`. An array of JSON is as many messages. With \`Stream-Closed: true\`, it is the last append, and may be empty. With \`Producer-Id\`, \`Producer-Epoch\` and \`Producer-Seq\`, a repetition appends nothing. \`Stream-Seq\` has to increase, as text, within the stream.`,
    errors: ["NOT_FOUND", "GONE"],
    conflict: [
      "The stream is closed (`Stream-Closed`), has another type, or appends before this one are missing (`Producer-Expected-Seq`).",
      "Read the headers of the answer; send what is missing.",
    ],
    headers: AppendHeaders,
    answers: {
      200: "The producer's append was stored.",
      204: "The append was stored, or had been before.",
    },
    respond: (ctx, { params }, request) => answer(ctx, () => appendToStream(ctx, params, request)),
  }),
  rawEndpoint({
    right: "read",
    method: "GET",
    path: PATH,
    operation: "readStream",
    insteadOfSdk: "`read()` of a stream of `atrium/streams` sends it.",
    summary: "Read a stream",
    details:
      "From `offset` on: a `Stream-Next-Offset`, `-1` for the beginning, `now` for the end. About a MiB at a time; `Stream-Up-To-Date` says that this was all. With `live=long-poll` it waits for more, with `live=sse` it goes on as Server-Sent Events for a minute. HEAD returns the stream's end, its times, and whether it is closed.",
    errors: ["NOT_FOUND", "GONE"],
    query: ReadQuery,
    headers: ReadHeaders,
    answers: {
      200: "The content from the offset on.",
      204: "Nothing came during a long poll.",
      304: "The content is what `If-None-Match` names.",
    },
    respond: (ctx, { params }, request, requireCaller) =>
      answer(ctx, () =>
        request.method === "HEAD"
          ? describeStream(ctx, params)
          : readStream(ctx, params, request, requireCaller),
      ),
  }),
  rawEndpoint({
    right: "streams:write",
    method: "DELETE",
    path: PATH,
    operation: "deleteStream",
    insteadOfSdk: "`delete()` of a stream of `atrium/streams` sends it.",
    summary: "Delete a stream",
    details:
      "With its content. Forks keep what they have of it; until the last one is deleted, the name stays taken.",
    errors: ["NOT_FOUND", "GONE"],
    answers: { 204: "The stream was deleted." },
    respond: (ctx, { params }) => answer(ctx, () => deleteStream(ctx, params)),
  }),
];
