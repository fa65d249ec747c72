/** The organization's requests about a room's comments. */
import { causeOf } from "../context/actor.ts";
import { notFound } from "../platform/errors.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { findTokenBearer } from "../users/token-bearer.ts";
import type { CommentsFound } from "./content/comments.ts";
import type { Comment } from "./protocol/comment.ts";
import type { OrganizationRequest } from "./protocol/room-request.ts";

/** Which of a room's comments have a text, and which of these to return. */
export interface CommentQuery {
  /** Folded. */
  readonly search: string;
  readonly threadId?: string | undefined;
  readonly resolved: boolean | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * A page of the room's comments that have a text, oldest first: the room looks through its comments in as many requests
 * as it takes. NOT_FOUND when the room does not exist.
 */
export async function searchComments(ctx: LiveRoomContext, roomId: string, query: CommentQuery) {
  await getRoomRow(ctx, roomId);
  const { search, threadId, resolved, limit, offset } = query;
  const comments: Comment[] = [];
  let total = 0;
  let after: number | null = 0;
  while (after !== null) {
    const request = { type: "COMMENT_SEARCH", data: { search, threadId, resolved, after } } as const;
    const found = (await ctx.rooms.request(roomId, ctx.accountId, request)) as CommentsFound;
    comments.push(...found.comments.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
    total += found.comments.length;
    after = found.next;
  }
  return { comments, total, limit, offset };
}

/** Writes a comment on behalf of one of the room's users; NOT_FOUND when there is no such user. */
export async function postComment<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: Extract<OrganizationRequest, { readonly type: "COMMENT_POST" }>,
): Promise<Data> {
  const { room, user } = await findTokenBearer(ctx, roomId, request.data.userId);
  if (room === null) throw notFound("Rooms", "Room");
  if (user === null) throw notFound("Users", "User");
  return (await ctx.rooms.request(roomId, ctx.accountId, request, causeOf(ctx.actor), ctx.trace)) as Data;
}
