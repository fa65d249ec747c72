/** The endpoint of a room's changes, for those who cannot open a WebSocket, or only watch. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { flag } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { checkQuery } from "../../http/request-input.ts";
import { writerOf } from "../../platform/d1/rights.ts";
import type { ChangePlace } from "../../room/types/changes.ts";
import type { RoomContext } from "../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../rooms/queries.ts";
import { checked, withRawHeaders } from "./raw-answers.ts";

const { rawEndpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const Seq = z
  .string()
  .regex(/^\d{1,16}$/, "must be a whole number")
  .transform(Number);

const ChangesQuery = z.object({
  seq: Seq.optional().meta({
    description: "The latest change that is known, as a `seq` of the room. Without it: from now on.",
    override: { type: "integer", minimum: 0, example: 42 },
  }),
  epoch: z.string().max(LIMITS.idLength).optional().meta({
    description: "The epoch that this `seq` was sent with.",
    example: "3d2f6c1e-5a0b-4c8e-9f57-0a4b8f6f2f11",
  }),
  live: flag(
    "`false` answers with the kept changes as JSON, as the header `Accept: application/json` does without `text/event-stream`.",
  ),
});

const ChangesHeaders = z.object({
  "Last-Event-ID": z.string().optional().meta({
    description: "The `id` of the latest event, instead of `seq` and `epoch`: an `EventSource` sends it.",
    example: "3d2f6c1e-5a0b-4c8e-9f57-0a4b8f6f2f11:42",
  }),
});

/** Null for a new reader. */
function placeIn(
  { seq, epoch }: z.infer<typeof ChangesQuery>,
  lastEventId: string | null,
): ChangePlace | null {
  if (!lastEventId) {
    if (seq !== undefined) return { seq, epoch };
    if (epoch !== undefined)
      throw new AppError("Rooms", "BAD_REQUEST", "epoch: needs the seq that it was sent with");
    return null;
  }
  const [, ofEvent, number = ""] = /^(.+):(\d{1,16})$/.exec(lastEventId) ?? [];
  if (ofEvent === undefined)
    throw new AppError("Rooms", "BAD_REQUEST", "Last-Event-ID: must be the id of an event of this room");
  return { seq: Number(number), epoch: ofEvent };
}

async function readChanges(
  ctx: RoomContext,
  roomId: string,
  request: Request,
  requireCaller: () => Promise<void>,
): Promise<Response> {
  const query = checkQuery(ChangesQuery, new URL(request.url).search, "Rooms");
  const from = placeIn(query, request.headers.get("Last-Event-ID"));
  await requireOpenRoom(ctx, roomId);
  const read = { accountId: ctx.accountId, from, writer: writerOf(ctx) };
  /** A room that no one has joined does not learn of its closing and deletion. */
  const requireReader = async () => {
    await requireCaller();
    const { state } = await getRoomRow(ctx, roomId);
    if (state === "closed" && ctx.actor.type === "user") throw notFound("Rooms", "Room");
  };
  const accepted = request.headers.get("Accept") ?? "";
  const wantsJson = accepted.includes("application/json") && !accepted.includes("text/event-stream");
  if (query.live ?? !wantsJson)
    return withRawHeaders(checked(await ctx.rooms.changeEvents(roomId, read), ctx, requireReader));
  const headers = { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" };
  return withRawHeaders(new Response(await ctx.rooms.listChanges(roomId, read), { headers }));
}

export const endpoints = [
  rawEndpoint({
    right: "read",
    method: "GET",
    path: "/rooms/:roomId/changes",
    operation: "readChanges",
    insteadOfSdk: "`atrium.changes(roomId)` of `atrium/server` reads them.",
    summary: "Read a room's changes as they happen",
    details:
      "As Server-Sent Events for a minute: each lasting change is an event with the name and the data that sockets receive. An event `reset` comes first where there is no `seq`, or it is not known any more: load what you show. With `live=false`, one answer as JSON with `changes`, `reset`, and `next`, the `seq` and `epoch` of the next request.",
    errors: ["NOT_FOUND"],
    query: ChangesQuery,
    headers: ChangesHeaders,
    answers: { 200: "The changes after `seq`." },
    respond: (ctx, { params }, request, requireCaller) =>
      readChanges(ctx, params.roomId, request, requireCaller),
  }),
];
