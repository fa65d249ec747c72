/** Operations on comments and threads, with the people whom they concern. */

import { notFound } from "@atrium/contract/errors.ts";
import type { CommentFilter, CommentPost, CommentReaction } from "@atrium/contract/operations/comments.ts";
import type { InputOf, OutputOf } from "@atrium/contract/operations/room.ts";
import type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Author, MentionRecipients, Thread } from "@atrium/contract/resources/thread.ts";
import { encodePosition, type PresentedScroll, presentPage } from "../../http/lists.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { userOf } from "../../platform/d1/rights.ts";
import { mentionsOfText, type RoomOperation } from "../../room/protocol/room-request.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { getRoomRow, requireOpen } from "../rooms/queries.ts";
import { findUserInRoom } from "../users/queries.ts";
import { callKnownRoom, callRoom, ownReaderOf } from "./commands.ts";
import { findRecipients, getReader, readerOf } from "./recipients.ts";

type ListedComments = Pick<OutputOf<"COMMENT_LIST">, "comments" | "total" | "next">;

export async function listComments(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  { search, ...filter }: CommentFilter & { readonly search: string },
): Promise<{ comments: readonly Comment[] } & PresentedScroll> {
  await getRoomRow(ctx, roomId);
  const { comments, total, next } =
    search === ""
      ? await readComments(ctx, roomId, page, filter)
      : await searchComments(ctx, roomId, page, { ...filter, search });
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
  filter: CommentFilter,
): Promise<ListedComments> {
  const { limit, offset } = page;
  const input = { ...filter, limit, offset, after: placeOf(page) };
  const listed = await callKnownRoom(ctx, roomId, "COMMENT_LIST", input);
  return { ...listed, total: page.after?.total ?? listed.total };
}

/** Searches comments in as many requests as it takes; the total needs all of them. */
async function searchComments(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  query: Omit<InputOf<"COMMENT_SEARCH">, "after">,
): Promise<ListedComments> {
  const end = page.offset + page.limit;
  const known = page.after?.total;
  const comments: Comment[] = [];
  let found = 0;
  let last: number | null = null;
  for (let after: number | null = placeOf(page); after !== null; ) {
    const input = { ...query, after };
    const slice: OutputOf<"COMMENT_SEARCH"> = await callKnownRoom(ctx, roomId, "COMMENT_SEARCH", input);
    comments.push(...slice.comments.slice(Math.max(0, page.offset - found), Math.max(0, end - found)));
    last = slice.positions[end - found - 1] ?? last;
    found += slice.comments.length;
    after = known !== undefined && found > end ? null : slice.next;
  }
  return { comments, total: known ?? found, next: found > end ? last : null };
}

const NO_RECIPIENTS: MentionRecipients = { readers: [], groups: [], unnotified: [] };

/** Writes a comment on behalf of one of the room's users, of a user for itself; NOT_FOUND when there is no such user. */
export async function postComment(
  ctx: LiveRoomContext,
  roomId: string,
  { userId: named, ...comment }: CommentPost,
  requestId: string | undefined,
): Promise<OutputOf<"COMMENT_CREATE">> {
  const userId = userOf(ctx, named);
  requireOpen(ctx.actor);
  const { mentions } = comment;
  const [reader, recipients] = await Promise.all([
    getAuthor(ctx, roomId, userId),
    mentions.length === 0 ? NO_RECIPIENTS : findRecipients(ctx, roomId, mentions, userId),
  ]);
  return callKnownRoom(ctx, roomId, "COMMENT_CREATE", comment, { requestId, reader, recipients });
}

/** Adds or ends a reaction on behalf of one of the room's users, of a user for itself; NOT_FOUND when there is no such user. */
export async function reactToComment(
  ctx: LiveRoomContext,
  roomId: string,
  commentId: string,
  { userId, ...reaction }: CommentReaction,
  requestId: string | undefined,
): Promise<OutputOf<"COMMENT_REACT">> {
  requireOpen(ctx.actor);
  const reader = await getAuthor(ctx, roomId, userOf(ctx, userId));
  return callKnownRoom(ctx, roomId, "COMMENT_REACT", { commentId, ...reaction }, { requestId, reader });
}

async function getAuthor(ctx: LiveRoomContext, roomId: string, userId: string): Promise<Author> {
  const { room, user } = await findUserInRoom(ctx, roomId, userId);
  if (room === null) throw notFound("Rooms", "Room");
  if (user === null) throw notFound("Users", "User");
  return readerOf(user);
}

/**
 * Edits a comment, which mentions those alone whom the author may mention. NOT_FOUND without the
 * room or the comment.
 */
export async function editComment(
  ctx: LiveRoomContext,
  roomId: string,
  edit: InputOf<"COMMENT_UPDATE">,
): Promise<OutputOf<"COMMENT_UPDATE">> {
  const { commentId, mentions = [] } = edit;
  if (mentions.length === 0) return callRoom(ctx, roomId, "COMMENT_UPDATE", edit);
  const own = ownReaderOf(ctx.actor);
  const authorId = own === undefined ? await findAuthor(ctx, roomId, commentId) : own.userId;
  const recipients = await findRecipients(ctx, roomId, mentions, authorId);
  return callRoom(ctx, roomId, "COMMENT_UPDATE", edit, { recipients });
}

/**
 * The author of a comment; null once it is gone. Its rights are then unknown, and the organization speaks for
 * itself.
 */
async function findAuthor(ctx: LiveRoomContext, roomId: string, commentId: string): Promise<string | null> {
  const { comments } = await callRoom(ctx, roomId, "COMMENTS_GET", { commentIds: [commentId] });
  const [comment] = comments;
  if (comment === undefined) throw notFound("Rooms", "Comment");
  return (await findUserInRoom(ctx, roomId, comment.user_id)).user?.id ?? null;
}

/** Carries out an operation about a mention in a text, which has an author by a user alone, after the reader was looked up. */
export async function callAboutTextMention<Type extends "TEXT_MENTION_CREATE" | "TEXT_MENTION_DELETE">(
  ctx: LiveRoomContext,
  roomId: string,
  type: Type,
  input: InputOf<Type>,
): Promise<OutputOf<Type>> {
  const authorId = ownReaderOf(ctx.actor)?.userId ?? null;
  const recipients = await findRecipients(ctx, roomId, mentionsOfText(input), authorId);
  return callRoom(ctx, roomId, type, input, { recipients });
}

/** Runs an operation about threads for one reader, or for none; a user is its own reader. */
export async function callAsReader<Type extends RoomOperation>(
  ctx: LiveRoomContext,
  roomId: string,
  userId: string | undefined,
  type: Type,
  input: InputOf<Type>,
): Promise<OutputOf<Type>> {
  if (userId !== undefined) userOf(ctx, userId);
  if (userId === undefined || ctx.actor.type === "user") return callRoom(ctx, roomId, type, input);
  return callKnownRoom(ctx, roomId, type, input, { reader: await getReader(ctx, roomId, userId) });
}

/** The authors of a thread's comments, and those who are mentioned in it. */
export async function listParticipants(ctx: LiveRoomContext, roomId: string, threadId: string) {
  const found = await callRoom(ctx, roomId, "THREAD_PARTICIPANTS", { threadId });
  const participants = found.participants.map(({ subject, userId }) => ({
    user_id: userId,
    identity_id: subject === userId ? null : subject,
  }));
  return { participants };
}

export async function listThreads(
  ctx: LiveRoomContext,
  roomId: string,
  page: Page,
  { userId, ...filter }: ThreadFilter & { readonly userId?: string | undefined },
): Promise<{ threads: readonly Thread[] } & PresentedScroll> {
  const { limit, offset, after } = page;
  const from = typeof after?.key === "number" ? { last_seq: after.key, id: after.id } : undefined;
  const input = { ...filter, after: from, limit, offset };
  const listed = await callAsReader(ctx, roomId, userId, "THREAD_LIST", input);
  const total = after?.total ?? listed.total;
  const presented = presentPage(page, [{ total }]);
  const { threads, next } = listed;
  if (next === null) return { threads, ...presented, cursor: null };
  const place = { key: next.last_seq, id: next.id, offset: presented.offset + threads.length, total };
  return { threads, ...presented, cursor: encodePosition(place) };
}
