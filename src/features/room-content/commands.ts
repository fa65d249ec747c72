/** Requests of the organization to a live room, after a check that the room is its own. */
import { causeOf, type RequestContext, requireRoomAccess, writerOf } from "../../platform/d1/context.ts";
import { AppError } from "../../platform/errors.ts";
import { isFolder } from "../../platform/text.ts";
import { presentTime } from "../../platform/time.ts";
import { LIMITS } from "../../room/protocol/limits.ts";
import {
  Key,
  type StoreBatch,
  StoreName,
  type StorePage as StorePageQuery,
} from "../../room/protocol/messages.ts";
import type { Response } from "../../room/protocol/protocol.ts";
import type { ParticipantInput, RoomRequest } from "../../room/protocol/room-request.ts";
import { requireWrite } from "../../wire/permissions.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../rooms/queries.ts";
import type { StorePage } from "./schema.ts";

/** Sends a request to a room: one D1 round trip, one object call. NOT_FOUND without the room. */
export async function requestRoom<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: RoomRequest,
): Promise<Data> {
  await getRoomRow(ctx, roomId);
  return (await ctx.rooms.request(roomId, ctx.accountId, request, causeOf(ctx.actor), ctx.trace)) as Data;
}

export async function* readStore(
  ctx: LiveRoomContext,
  roomId: string,
  store: string,
): AsyncGenerator<StorePage> {
  await getRoomRow(ctx, roomId);
  let after: string | undefined;
  do {
    const data: StorePageQuery = { store, after, limit: LIMITS.pageEntries };
    const request = { type: "STORE_SYNC", requestId: undefined, data } as const;
    const page = (await ctx.rooms.request(roomId, ctx.accountId, request)) as StorePage;
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Adds a participant until `expires_at`. FORBIDDEN in a closed room, CONFLICT while the user is connected. */
export async function addParticipant(
  ctx: LiveRoomContext,
  roomId: string,
  userId: string,
  input: ParticipantInput,
): Promise<{ expires_at: string }> {
  await getRoomRow(ctx, roomId);
  return {
    expires_at: presentTime(await ctx.rooms.addParticipant(roomId, ctx.accountId, userId, input, ctx.trace)),
  };
}

/** Applies batches, each once per request ID. FORBIDDEN for viewers and, to users, in a closed room. */
export async function writeStores(
  ctx: RequestContext & LiveRoomContext,
  roomId: string,
  requests: readonly (StoreBatch & { readonly requestId: string })[],
): Promise<readonly Response[]> {
  requireRoomAccess(ctx, roomId);
  requireWrite(ctx, "stores");
  const { actor, accountId } = ctx;
  await requireOpenRoom(ctx, roomId);
  // The field order of the socket's message: a request over both has one fingerprint.
  const batches = requests.map(({ requestId, operations, atomic }) => ({
    type: "STORE_BATCH",
    requestId,
    data: { operations, atomic },
  }));
  const userId = actor.type === "user" ? actor.userId : null;
  return ctx.rooms.writeStores(roomId, accountId, userId, batches, writerOf(actor));
}

/** The Idempotency-Key is the room's request ID, so the room handles concurrent repetitions once. */
export const requestIdOf = ({ idempotencyKey }: RequestContext): string | undefined =>
  idempotencyKey ?? undefined;

/** Parses the store and key of a path, which an agent gives as they are. BAD_REQUEST when they are too long. */
export function parseAddress(params: { readonly store: string; readonly key?: string }): {
  readonly store: string;
  readonly key: string;
} {
  for (const [field, name] of Object.entries({ store: params.store, key: params.key ?? "-" }))
    if (isFolder(name))
      throw new AppError(
        "Rooms",
        "VALIDATION_ERROR",
        `${field}: must not be "." or "..", which addresses take for folders`,
      );
  const store = StoreName.safeParse(params.store);
  if (!store.success)
    throw new AppError("Rooms", "BAD_REQUEST", "The store name is too long: at most 128 characters");
  const key = Key.safeParse(params.key ?? "-");
  if (!key.success) throw new AppError("Rooms", "BAD_REQUEST", "The key is too long: at most 255 characters");
  return { store: store.data, key: key.data };
}
