/** What the organization asks of a live room: the room must be its own, and then the room itself answers. */
import type { OperationContext, RequestContext } from "../context/context.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { findTokenBearer } from "../users/token-bearer.ts";
import { Key, StoreName } from "./protocol/messages.ts";
import type { OrganizationRequest, RoomRequest } from "./requests.ts";

/**
 * One D1 round trip and one object call. NOT_FOUND without the room; else what the room says, in the type
 * that the endpoint's schema gives it: the tests hold every answer against that schema.
 */
export async function requestRoom<Data>(
  ctx: OperationContext,
  roomId: string,
  request: RoomRequest,
): Promise<Data> {
  await getRoomRow(ctx, roomId);
  return (await ctx.rooms.request(roomId, ctx.accountId, request)) as Data;
}

/** Writes a comment in the name of one of the room's users; NOT_FOUND when there is none such. */
export async function postComment<Data>(
  ctx: RequestContext,
  roomId: string,
  data: Extract<OrganizationRequest, { readonly type: "COMMENT_POST" }>["data"],
): Promise<Data> {
  const { room, user } = await findTokenBearer(ctx, roomId, data.userId);
  if (room === null) throw notFound("Rooms", "Room");
  if (user === null) throw notFound("Users", "User");
  const request: RoomRequest = { type: "COMMENT_POST", requestId: requestIdOf(ctx), data };
  return (await ctx.rooms.request(roomId, ctx.accountId, request)) as Data;
}

/** Under its Idempotency-Key a request is the room's own once: of two at one time, too, the room does one. */
export const requestIdOf = ({ idempotencyKey }: RequestContext): string | undefined =>
  idempotencyKey ?? undefined;

/** A store and a key as an address has them; BAD_REQUEST when they are longer than any can be. */
export function parseAddress(params: { readonly store: string; readonly key?: string }): {
  readonly store: string;
  readonly key: string;
} {
  const store = StoreName.safeParse(params.store);
  if (!store.success) throw new AppError("Rooms", "BAD_REQUEST", "The store's name is too long");
  const key = Key.safeParse(params.key ?? "-");
  if (!key.success) throw new AppError("Rooms", "BAD_REQUEST", "The key is too long");
  return { store: store.data, key: key.data };
}
