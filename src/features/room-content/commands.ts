/** Requests of the organization to a live room: checks that the room is the organization's, then passes them on. */
import { causeOf } from "../../platform/context/actor.ts";
import { type RequestContext, requireRoomAccess } from "../../platform/context/context.ts";
import { AppError } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import { MAX_PAGE_ENTRIES } from "../../room/protocol/limits.ts";
import { Key, StoreName } from "../../room/protocol/message-fields.ts";
import type { StoreBatch, StorePage } from "../../room/protocol/messages.ts";
import type { Response } from "../../room/protocol/protocol.ts";
import type { RoomRequest, Visit } from "../../room/protocol/room-request.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";

/**
 * One D1 round trip and one object call. NOT_FOUND when the room does not exist; else the room's response data,
 * typed as the endpoint's schema has it: the tests check every response against that schema.
 */
export async function requestRoom<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: RoomRequest,
): Promise<Data> {
  await getRoomRow(ctx, roomId);
  return (await ctx.rooms.request(roomId, ctx.accountId, request, causeOf(ctx.actor), ctx.trace)) as Data;
}

/** A page of a store, as `STORE_SYNC` responds with it. */
export interface StorePageData {
  readonly entries: Record<string, { readonly value: unknown; readonly version: number }>;
  readonly seq: number;
  /** The last key of the page, if others follow. */
  readonly next?: string;
}

/** The pages of a store, in the order of keys. NOT_FOUND when the room does not exist. */
export async function* readStore(
  ctx: LiveRoomContext,
  roomId: string,
  store: string,
): AsyncGenerator<StorePageData> {
  await getRoomRow(ctx, roomId);
  let after: string | undefined;
  do {
    const data: StorePage = { store, after, limit: MAX_PAGE_ENTRIES };
    const request = { type: "STORE_SYNC", requestId: undefined, data } as const;
    const page = (await ctx.rooms.request(roomId, ctx.accountId, request)) as StorePageData;
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/**
 * Lets a user take part without a socket; `expires_at` is when it leaves. NOT_FOUND, FORBIDDEN in a closed room, CONFLICT
 * while the user is connected.
 */
export async function addParticipant(
  ctx: LiveRoomContext,
  roomId: string,
  userId: string,
  visit: Visit,
): Promise<{ expires_at: string }> {
  await getRoomRow(ctx, roomId);
  return { expires_at: presentTime(await ctx.rooms.visit(roomId, ctx.accountId, userId, visit, ctx.trace)) };
}

/**
 * Applies batches as the actor: a user, who must be an editor of this room, or the organization. FORBIDDEN for a viewer
 * and, to users, in a closed room. Each batch has a response of its own, and is carried out once per request id.
 */
export async function writeStores(
  ctx: RequestContext & LiveRoomContext,
  roomId: string,
  requests: readonly (StoreBatch & { readonly requestId: string })[],
): Promise<readonly Response[]> {
  requireRoomAccess(ctx, roomId);
  const { actor, accountId } = ctx;
  if (actor.type === "user" && actor.role === "viewer")
    throw forbidden("A viewer cannot write to stores; use the token of an editor");
  const room = await getRoomRow(ctx, roomId);
  if (actor.type === "user" && room.state === "closed") throw forbidden("The room is closed");
  // The fields in the order of the socket's message: a request sent over both has one fingerprint.
  const batches = requests.map(({ requestId, operations, atomic }) => ({
    type: "STORE_BATCH",
    requestId,
    data: { operations, atomic },
  }));
  const userId = actor.type === "user" ? actor.userId : null;
  return ctx.rooms.writeStores(roomId, accountId, userId, batches);
}

const forbidden = (why: string) => new AppError("Rooms", "FORBIDDEN", why);

/** The Idempotency-Key is the room's request id: of two concurrent requests, too, the room handles one. */
export const requestIdOf = ({ idempotencyKey }: RequestContext): string | undefined =>
  idempotencyKey ?? undefined;

/** The store and key of a path; BAD_REQUEST when they are longer than allowed. */
export function parseAddress(params: { readonly store: string; readonly key?: string }): {
  readonly store: string;
  readonly key: string;
} {
  const store = StoreName.safeParse(params.store);
  if (!store.success)
    throw new AppError("Rooms", "BAD_REQUEST", "The store name is too long: at most 128 characters");
  const key = Key.safeParse(params.key ?? "-");
  if (!key.success) throw new AppError("Rooms", "BAD_REQUEST", "The key is too long: at most 255 characters");
  return { store: store.data, key: key.data };
}
