/** Reads the event log, of the whole organization or of one room. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Event } from "@atrium/contract/resources/events.ts";
import type { EventLogQuery, EventPage } from "@atrium/contract/rest/event-log.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type * as z from "zod";
import {
  decodeCursor,
  encodeCursor,
  type LogQuery,
  PrunedError,
  readPage,
} from "../../delivery/event-log/log-page.ts";
import { type EventLogs, SHARDS, shardOf } from "../../delivery/event-log/shards.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { getRoomRow } from "../rooms/queries.ts";

type LogRequest = z.infer<typeof EventLogQuery>;

/** The shards to read, and the scope that their cursors belong to. */
interface Scope extends Pick<LogQuery, "roomId" | "mentioned"> {
  readonly name: string;
  readonly shards: readonly number[];
}

const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

/** A page of the organization's log, including rooms that were deleted. BAD_REQUEST for a cursor of another log, GONE for one that is too old. */
export const listEvents = (ctx: EventLogContext, query: LogRequest): Promise<EventPage> =>
  listFrom(ctx, { name: ctx.accountId, shards: ALL_SHARDS, roomId: null }, query);

/** A page of a room's log. NOT_FOUND without the room, otherwise as {@link listEvents}. */
export async function listRoomEvents(
  ctx: EventLogContext,
  roomId: string,
  query: LogRequest,
): Promise<EventPage> {
  await getRoomRow(ctx, roomId);
  return listFrom(ctx, { name: roomId, shards: [shardOf(roomId)], roomId }, query);
}

/** A page of the mentions of an agent in all rooms. BAD_REQUEST for a cursor of another log, GONE for one that a restore has lost. */
export const listMentionsOf = (
  ctx: EventLogContext,
  identityId: string,
  query: Omit<LogRequest, "events">,
): Promise<EventPage> =>
  listFrom(
    ctx,
    { name: identityId, shards: ALL_SHARDS, roomId: null, mentioned: identityId },
    { ...query, events: ["agent.mentioned"] },
  );

const SEARCHED_AT_ONCE = 500;

/** Some of a room's events that contain a user's ID, oldest first, and where to go on; null at the end. */
export async function findEventsNaming(
  ctx: EventLogContext,
  roomId: string,
  userId: string,
  after: string | null,
): Promise<{ events: Event[]; next: string | null }> {
  const query = { from: null, until: null, roomId, names: null, limit: SEARCHED_AT_ONCE };
  const read = (position: number | null) =>
    ctx.eventLogs(ctx.accountId, shardOf(roomId)).read({ ...query, after: position });
  const found = await read(after === null ? null : Number(after));
  // Events pruned meanwhile are gone.
  const slice = found.type === "pruned" ? await read(null) : found;
  if (slice.type === "pruned") return { events: [], next: null };
  const named = slice.events.filter(({ body }) => body.includes(userId));
  return {
    events: named.map(({ body }) => parseRoomEvent(body)),
    next: slice.isAtEnd ? null : String(slice.position),
  };
}

async function listFrom(
  ctx: EventLogContext,
  { name, shards, ...scope }: Scope,
  { after, from, events: names, limit }: LogRequest,
): Promise<EventPage> {
  if (after !== undefined && from !== undefined)
    throw new AppError("Events", "BAD_REQUEST", "from cannot be combined with after: send one of them");
  const isNow = after === "now";
  const query = {
    ...scope,
    after: after === undefined || isNow ? shards.map(() => null) : positionsOf(name, after, shards.length),
    from: isNow ? Number.MAX_SAFE_INTEGER : (from ?? null),
    until: null,
    names: names.length === 0 ? null : names,
    limit,
  };
  const page = await readPage(query, (index, slice) =>
    ctx.eventLogs(ctx.accountId, shards[index] ?? 0).read(slice),
  ).catch(refusePruned);
  return {
    events: page.events.map(({ body }) => parseBody(body)),
    cursor: encodeCursor(name, page.positions),
    has_more: page.hasMore,
  };
}

function positionsOf(name: string, after: string, shards: number): readonly number[] {
  const positions = decodeCursor(name, after, shards);
  if (positions !== null) return positions;
  throw new AppError("Events", "BAD_REQUEST", "after must be the cursor of an earlier page of this log");
}

function refusePruned(error: unknown): never {
  if (!(error instanceof PrunedError)) throw error;
  const oldest = error.oldestAt === null ? "none is" : `the oldest are from ${presentTime(error.oldestAt)}`;
  throw new AppError(
    "Events",
    "GONE",
    `after: events that follow this cursor are no longer kept (${oldest}). Omit after to read all that are, and read the current state of your rooms for what was before`,
  );
}

const parseRoomEvent = (body: string): Event => JSON.parse(body) as Event;

const parseBody = (body: string): EventPage["events"][number] =>
  JSON.parse(body) as EventPage["events"][number];

export interface EventLogContext extends RequestContext {
  readonly eventLogs: EventLogs;
}
