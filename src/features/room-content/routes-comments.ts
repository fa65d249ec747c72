/** The endpoints of a room's comments. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, searching, toPage } from "../../http/lists/paginate.ts";
import { scrollShape } from "../../http/lists/presented-page.ts";
import { text } from "../../platform/text.ts";
import { CommentPost, CommentUpdate } from "../../room/protocol/comment.ts";
import { Comment } from "../../wire/comment.ts";
import type { RoomContext } from "../rooms/context.ts";
import { requestIdOf, requestRoom } from "./commands.ts";
import { listComments, postComment } from "./comment-commands.ts";

const { endpoint } = endpointsFor<RoomContext>();

const CommentQuery = z.object({
  ...scrolling,
  ...searching("the comment's text"),
  threadId: text(1, 255).optional().meta({ description: "Only the comments of one thread." }),
  resolved: z
    .enum(["true", "false"])
    .optional()
    .meta({ description: "Only comments that are resolved, or only those that are not." }),
});

const common = { module: "Rooms", access: "organization" } as const;

export const commentEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/rooms/:roomId/comments",
    operation: "listComments",
    summary: "List a room's comments",
    details:
      "Oldest first. A search reads all comments of the room, or of the thread: up to 10,000, a thousand at a time.",
    errors: ["NOT_FOUND"],
    query: CommentQuery,
    status: 200,
    done: "Comments retrieved",
    data: z.object({ comments: z.array(Comment).readonly(), ...scrollShape }),
    handle: (ctx, { params, query }) => {
      const { search, threadId } = query;
      const resolved = query.resolved === undefined ? undefined : query.resolved === "true";
      return listComments(ctx, params.roomId, toPage(query), { search, threadId, resolved });
    },
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/rooms/:roomId/comments",
    operation: "createComment",
    summary: "Write a comment on behalf of a user",
    details: "Without `threadId` it starts a thread, whose id is the comment's own.",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: CommentPost,
    status: 201,
    done: "Comment created",
    data: z.object({ comment: Comment }),
    handle: (ctx, { params, body }) =>
      postComment(ctx, params.roomId, { type: "COMMENT_POST", requestId: requestIdOf(ctx), data: body }),
  }),
  endpoint({
    ...common,
    method: "PATCH",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "updateComment",
    summary: "Edit, resolve or reopen a comment",
    details:
      "The organization may change every comment. Everyone in the room receives the change as `commentUpdated`.",
    errors: ["NOT_FOUND"],
    body: CommentUpdate,
    status: 200,
    done: "Comment updated",
    data: z.object({ comment: Comment }),
    handle: (ctx, { params, body }) => {
      const data = { commentId: params.commentId, ...body };
      return requestRoom(ctx, params.roomId, { type: "COMMENT_EDIT", data });
    },
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "deleteComment",
    summary: "Delete a comment",
    details:
      "The organization may delete every comment. The others of its thread stay. Everyone in the room receives `commentDeleted`.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Comment deleted",
    data: z.object({ comment: Comment.meta({ description: "The comment as it was." }) }),
    handle: (ctx, { params: { roomId, commentId } }) =>
      requestRoom(ctx, roomId, { type: "COMMENT_DELETE", requestId: undefined, data: { commentId } }),
  }),
];
