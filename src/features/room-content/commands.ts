/** Operations of a live room, for the organization and for its users. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { type InputOf, type OutputOf, rightOf } from "@atrium/contract/operations/room.ts";
import { Key, type StoreBatch, StoreName } from "@atrium/contract/operations/stores.ts";
import type { StorePage } from "@atrium/contract/resources/store.ts";
import type { Author } from "@atrium/contract/resources/thread.ts";
import { isFolder } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { causeOf, type RequestContext } from "../../platform/d1/context.ts";
import { writerOf } from "../../platform/d1/rights.ts";
import type { CallOptions } from "../../room/host/gateway.ts";
import type { Response } from "../../room/protocol/protocol.ts";
import type { ParticipantInput, RoomOperation } from "../../room/protocol/room-request.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../rooms/queries.ts";
import { readerOf } from "./recipients.ts";

/**
 * Carries out an operation of a room for the caller, and a user's for itself: one D1 round trip, one object call. NOT_FOUND
 * without the room, and FORBIDDEN to users who need more than to read in a closed one.
 */
export async function callRoom<Type extends RoomOperation>(
  ctx: LiveRoomContext,
  roomId: string,
  type: Type,
  input: InputOf<Type>,
  options: CallOptions = {},
): Promise<OutputOf<Type>> {
  const needsRoom = rightOf(type, input) === "read" ? getRoomRow : requireOpenRoom;
  await needsRoom(ctx, roomId);
  return callKnownRoom(ctx, roomId, type, input, options);
}

/** The same for a room that the caller has looked up: one object call. */
export const callKnownRoom = <Type extends RoomOperation>(
  ctx: LiveRoomContext,
  roomId: string,
  type: Type,
  input: InputOf<Type>,
  options: CallOptions = {},
): Promise<OutputOf<Type>> =>
  ctx.rooms.call(roomId, ctx.accountId, type, input, {
    reader: ownReaderOf(ctx.actor),
    ...options,
    cause: causeOf(ctx.actor),
    trace: ctx.trace,
    writer: writerOf(ctx),
  });

/** A user who makes a request, as a reader of its room's threads; undefined for others. */
export const ownReaderOf = (actor: LiveRoomContext["actor"]): Author | undefined =>
  actor.type === "user" ? readerOf({ id: actor.userId, identityId: actor.identityId }) : undefined;

export async function* readStore(
  ctx: LiveRoomContext,
  roomId: string,
  store: string,
): AsyncGenerator<StorePage> {
  await getRoomRow(ctx, roomId);
  let after: string | undefined;
  do {
    const page: StorePage = await callKnownRoom(ctx, roomId, "STORE_SYNC", {
      store,
      after,
      limit: LIMITS.pageEntries,
    });
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
    expires_at: presentTime(
      await ctx.rooms.addParticipant(roomId, ctx.accountId, userId, input, ctx.trace, writerOf(ctx)),
    ),
  };
}

/** Applies batches, each once per request ID. FORBIDDEN for viewers and, to users, in a closed room. */
export async function writeStores(
  ctx: RequestContext & LiveRoomContext,
  roomId: string,
  requests: readonly (StoreBatch & { readonly requestId: string })[],
): Promise<readonly Response[]> {
  const { actor, accountId } = ctx;
  await requireOpenRoom(ctx, roomId);
  // The field order of the socket's message: a request over both has one fingerprint.
  const batches = requests.map(({ requestId, operations, atomic }) => ({
    type: "STORE_BATCH",
    requestId,
    data: { operations, atomic },
  }));
  const userId = actor.type === "user" ? actor.userId : null;
  return ctx.rooms.writeStores(roomId, accountId, userId, batches, writerOf(ctx));
}

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
