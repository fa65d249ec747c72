/** Requests of the organization about comments and threads, with the people whom they concern. */
import { encodePosition, type PresentedScroll, presentPage } from "../../http/lists.ts";
import { causeOf } from "../../platform/d1/context.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { notFound } from "../../platform/errors.ts";
import type { CommentsFound, CommentsListed } from "../../room/engine/content/comments.ts";
import type { ThreadsListed } from "../../room/engine/content/threads.ts";
import { mentionsOf, type OrganizationRequest, type RoomRequest } from "../../room/protocol/room-request.ts";
import type { Comment } from "../../wire/comment.ts";
import type { Addressees, Reader, Thread } from "../../wire/thread.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { findUserInRoom } from "../users/queries.ts";
import { addressedBy, findAddressees, getReader } from "./addressees.ts";
import { requestRoom } from "./commands.ts";

interface CommentQuery {
  readonly search: string;
  readonly threadId?: string | undefined;
  readonly resolved: boolean | undefined;
}

interface ListedComments {
  readonly comments: readonly Comment[];
  readonly total: number;
  readonly next: number | null;
}

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

type ReaderRequest = Extract<RoomRequest, { readonly reader?: Reader }>;

const NO_ADDRESSEES: Addressees = { readers: [], groups: [], unnotified: [] };

/** Writes a comment on behalf of one of the room's users; NOT_FOUND when there is no such user. */
export async function postComment<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: Extract<OrganizationRequest, { readonly type: "COMMENT_POST" }>,
): Promise<Data> {
  const { userId, mentions } = request.data;
  const [{ room, user }, addressees] = await Promise.all([
    findUserInRoom(ctx, roomId, userId),
    mentions.length === 0 ? NO_ADDRESSEES : findAddressees(ctx, roomId, mentions, userId),
  ]);
  if (room === null) throw notFound("Rooms", "Room");
  if (user === null) throw notFound("Users", "User");
  const addressed = { ...request, addressees: addressedBy(addressees, user) };
  return (await ctx.rooms.request(roomId, ctx.accountId, addressed, causeOf(ctx.actor), ctx.trace)) as Data;
}

/**
 * Edits a comment for the organization, which mentions those alone whom the author may mention. NOT_FOUND without the
 * room or the comment.
 */
export async function editComment<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: Extract<OrganizationRequest, { readonly type: "COMMENT_EDIT" }>,
): Promise<Data> {
  const { commentId, mentions = [] } = request.data;
  if (mentions.length === 0) return requestRoom(ctx, roomId, request);
  const question = { type: "COMMENTS_GET", data: { commentIds: [commentId] } } as const;
  const { comments } = await requestRoom<Pick<CommentsFound, "comments">>(ctx, roomId, question);
  const [comment] = comments;
  if (comment === undefined) throw notFound("Rooms", "Comment");
  // Of an author who is gone, no one knows what they might do: the organization speaks for itself.
  const { user } = await findUserInRoom(ctx, roomId, comment.user_id);
  const addressees = await findAddressees(ctx, roomId, mentions, user?.id ?? null);
  return requestRoom(ctx, roomId, { ...request, addressees });
}

/** Sends a request of the organization about a mention in a text, which has no author, after the reader was looked up. */
export async function requestTextMention<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  request: Extract<RoomRequest, { readonly type: `TEXT_MENTION_${string}` }>,
): Promise<Data> {
  const addressees = await findAddressees(ctx, roomId, mentionsOf(request), null);
  return requestRoom(ctx, roomId, { ...request, addressees });
}

/** Sends a request about threads for one reader, or for none. */
export async function requestAsReader<Data>(
  ctx: LiveRoomContext,
  roomId: string,
  userId: string | undefined,
  request: ReaderRequest,
): Promise<Data> {
  if (userId === undefined) return requestRoom(ctx, roomId, request);
  const reader = await getReader(ctx, roomId, userId);
  return (await ctx.rooms.request(roomId, ctx.accountId, { ...request, reader })) as Data;
}

/** The authors of a thread's comments, and those who are mentioned in it. */
export async function listParticipants(ctx: LiveRoomContext, roomId: string, threadId: string) {
  const request = { type: "THREAD_PARTICIPANTS", data: { threadId } } as const;
  const found = await requestRoom<{ participants: readonly Reader[] }>(ctx, roomId, request);
  const participants = found.participants.map(({ subject, userId }) => ({
    user_id: userId,
    identity_id: subject === userId ? null : subject,
  }));
  return { participants };
}

interface ThreadQuery {
  readonly userId?: string | undefined;
  readonly resolved?: boolean | undefined;
  readonly unread?: boolean | undefined;
  readonly subscribed?: boolean | undefined;
}

export async function listThreads(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  { userId, ...filters }: ThreadQuery,
): Promise<{ threads: readonly Thread[] } & PresentedScroll> {
  const { limit, offset, after } = page;
  const from = typeof after?.key === "number" ? { last_seq: after.key, id: after.id } : undefined;
  const { resolved, unread, subscribed } = filters;
  const data = { resolved, unread, subscribed, after: from, limit, offset };
  const request = { type: "THREAD_LIST", requestId: undefined, data } as const;
  const listed = await requestAsReader<ThreadsListed>(ctx, roomId, userId, request);
  const total = after?.total ?? listed.total;
  const presented = presentPage(page, [{ total }]);
  const { threads, next } = listed;
  if (next === null) return { threads, ...presented, cursor: null };
  const place = { key: next.last_seq, id: next.id, offset: presented.offset + threads.length, total };
  return { threads, ...presented, cursor: encodePosition(place) };
}
