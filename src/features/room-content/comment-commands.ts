/** Requests of the organization about a room's comments. */

import { encodePosition } from "../../http/lists/list-cursor.ts";
import { type PresentedScroll, presentPage } from "../../http/lists/presented-page.ts";
import { causeOf } from "../../platform/context/actor.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import type { CommentsFound, CommentsListed } from "../../room/engine/content/comments.ts";
import type { OrganizationRequest } from "../../room/protocol/room-request.ts";
import type { Comment } from "../../wire/comment.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { findUserInRoom } from "../users/queries.ts";

/** A filter for comments. */
export interface CommentQuery {
  /** Folded; empty for no search. */
  readonly search: string;
  readonly threadId?: string | undefined;
  readonly resolved: boolean | undefined;
}

/** A page of comments with the total, and the position of the next page; null at the end. */
interface ListedComments {
  readonly comments: readonly Comment[];
  readonly total: number;
  readonly next: number | null;
}

/** Lists comments, oldest first. NOT_FOUND when the room does not exist. */
export async function listComments(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  query: CommentQuery,
): Promise<{ comments: readonly Comment[] } & PresentedScroll> {
  await getRoomRow(ctx, roomId);
  const read = query.search === "" ? readComments : searchComments;
  const { comments, total, next } = await read(ctx, roomId, page, query);
  const presented = presentPage(page, [{ total }]);
  const last = comments.at(-1);
  if (next === null || last === undefined) return { comments, ...presented, cursor: null };
  const offset = presented.offset + comments.length;
  return { comments, ...presented, cursor: encodePosition({ key: next, id: last.id, offset, total }) };
}

/** The position after which a page begins. */
const placeOf = ({ after }: Page): number => (typeof after?.key === "number" ? after.key : 0);

async function readComments(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  { threadId, resolved }: CommentQuery,
): Promise<ListedComments> {
  const { limit, offset } = page;
  const data = { threadId, resolved, limit, offset, after: placeOf(page) };
  const request = { type: "COMMENT_LIST", requestId: undefined, data } as const;
  const listed = (await ctx.rooms.request(roomId, ctx.accountId, request)) as CommentsListed;
  return { ...listed, total: page.after?.total ?? listed.total };
}

/** Searches comments in as many requests as it takes; the total needs all of them. */
async function searchComments(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  { search, threadId, resolved }: CommentQuery,
): Promise<ListedComments> {
  const end = page.offset + page.limit;
  const known = page.after?.total;
  const comments: Comment[] = [];
  let found = 0;
  let last: number | null = null;
  for (let after: number | null = placeOf(page); after !== null; ) {
    const request = { type: "COMMENT_SEARCH", data: { search, threadId, resolved, after } } as const;
    const slice = (await ctx.rooms.request(roomId, ctx.accountId, request)) as CommentsFound;
    comments.push(...slice.comments.slice(Math.max(0, page.offset - found), Math.max(0, end - found)));
    last = slice.positions[end - found - 1] ?? last;
    found += slice.comments.length;
    after = known !== undefined && found > end ? null : slice.next;
  }
  return { comments, total: known ?? found, next: found > end ? last : null };
}

/** Writes a comment on behalf of one of the room's users; NOT_FOUND when there is no such user. */
export async function postComment<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: Extract<OrganizationRequest, { readonly type: "COMMENT_POST" }>,
): Promise<Data> {
  const { room, user } = await findUserInRoom(ctx, roomId, request.data.userId);
  if (room === null) throw notFound("Rooms", "Room");
  if (user === null) throw notFound("Users", "User");
  return (await ctx.rooms.request(roomId, ctx.accountId, request, causeOf(ctx.actor), ctx.trace)) as Data;
}
