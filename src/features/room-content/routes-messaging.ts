/** The endpoints of what a room does not store: broadcasts, presence and participants. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { flag, scrolling, scrollShape, searching, toPage } from "../../http/lists.ts";
import { text } from "../../platform/text.ts";
import { Timestamp } from "../../platform/time.ts";
import { CommentPost, CommentUpdate } from "../../room/protocol/comment.ts";
import { BroadcastData, JsonObject } from "../../room/protocol/messages.ts";
import { Comment } from "../../wire/comment.ts";
import type { RoomContext } from "../rooms/context.ts";
import { addParticipant, requestIdOf, requestRoom } from "./commands.ts";
import { editComment, listComments, postComment } from "./comments.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const Broadcast = BroadcastData.extend({
  data: BroadcastData.shape.data.meta({ description: "Any JSON, at most 64 KiB." }),
  userIds: BroadcastData.shape.userIds.meta({ description: "If omitted, everyone who is online." }),
})
  .strict()
  .meta({ id: "Broadcast", example: { event: "announcement", data: { text: "We begin in five minutes" } } });

const MIN_VISIT_SECONDS = 10;
const MAX_VISIT_SECONDS = 3600;

const Participation = z
  .strictObject({
    presence: JsonObject.nullable().optional().meta({
      description: "The presence state. If omitted, what the user has shown so far; `null` shows nothing.",
    }),
    ttl: z.int().min(MIN_VISIT_SECONDS).max(MAX_VISIT_SECONDS).default(60).meta({
      description: "For how many seconds the user stays online.",
    }),
  })
  .meta({ id: "Participation", example: { presence: { cursor: { x: 120, y: 40 } }, ttl: 60 } });

const ofMessages = [
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/broadcast",
    operation: "broadcast",
    summary: "Send a message to the users who are online in a room",
    details: "The message is not stored. Its `from` is null.",
    errors: ["NOT_FOUND"],
    body: Broadcast,
    done: "Broadcast sent",
    data: z.object({
      delivered: z.int().meta({ description: "The number of users reached.", minimum: 0, example: 2 }),
    }),
    handle: (ctx, { params, body }) =>
      requestRoom(ctx, params.roomId, { type: "BROADCAST", requestId: requestIdOf(ctx), data: body }),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/presence",
    operation: "getPresence",
    summary: "Get the presence of a room's users",
    details:
      "Only users who show something now are listed. Presence is never stored, and ends when its user leaves.",
    errors: ["NOT_FOUND"],
    done: "Presence retrieved",
    data: z.object({
      presence: z
        .record(z.string(), z.record(z.string(), z.unknown()))
        .meta({ description: "The presence state of each user who has one, by user id." }),
    }),
    handle: (ctx, { params }) => requestRoom(ctx, params.roomId, { type: "PRESENCE_GET" }),
  }),
  endpoint({
    method: "PUT",
    path: "/rooms/:roomId/participants/:userId",
    operation: "addParticipant",
    summary: "Let a user take part without a connection for a time",
    details:
      "For agents: the user is online, everyone sees it join and what it shows, and it leaves after `ttl` seconds unless this is sent again.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The user has a connection of its own, or the room's presence is full.",
      "Let the user's own client show its presence, or show less.",
    ],
    body: Participation,
    done: "Participant added",
    data: z.object({ expires_at: Timestamp.meta({ description: "When the user leaves." }) }),
    handle: (ctx, { params, body }) => {
      const { presence: state, ttl } = body;
      return addParticipant(ctx, params.roomId, params.userId, { state, ttl });
    },
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/participants/:userId",
    operation: "removeParticipant",
    summary: "Close a user's connections",
    details:
      "The user leaves at once. Its clients do not connect again by themselves, but the user may join again: end its tokens, or delete it, to keep it out.",
    errors: ["NOT_FOUND"],
    done: "Participant removed",
    data: z.object({}),
    handle: (ctx, { params: { roomId, userId } }) =>
      requestRoom(ctx, roomId, { type: "PARTICIPANT_REMOVE", data: { userId } }),
  }),
];

const CommentQuery = z.object({
  ...scrolling,
  ...searching("the comment's text"),
  threadId: text(1, 255).optional().meta({ description: "Only the comments of one thread." }),
  resolved: flag("Only comments that are resolved, or only those that are not."),
});

const unnotified = z.array(z.string()).optional().meta({
  description:
    "The mentioned users, identities and groups that do not exist or may not read the room, and those that a guest can not mention; absent without any.",
});

const ofComments = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/comments",
    operation: "listComments",
    summary: "List a room's comments",
    details:
      "Oldest first. A search reads all comments of the room, or of the thread: up to 10,000, a thousand at a time.",
    errors: ["NOT_FOUND"],
    query: CommentQuery,
    done: "Comments retrieved",
    data: z.object({ comments: z.array(Comment).readonly(), ...scrollShape }),
    handle: (ctx, { params, query }) => {
      const { search, threadId, resolved } = query;
      return listComments(ctx, params.roomId, toPage(query), { search, threadId, resolved });
    },
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/comments",
    operation: "createComment",
    summary: "Write a comment on behalf of a user",
    details: "Without `threadId` it starts a thread, whose id is the comment's own.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The room has as many comments as it can, or as many bytes of them.",
      "Delete comments that are no longer needed.",
    ],
    body: CommentPost,
    status: 201,
    done: "Comment created",
    data: z.object({ comment: Comment, unnotified }),
    handle: (ctx, { params, body }) =>
      postComment(ctx, params.roomId, { type: "COMMENT_POST", requestId: requestIdOf(ctx), data: body }),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "updateComment",
    summary: "Edit, resolve or reopen a comment",
    details:
      "The organization may change every comment. Everyone in the room receives the change as `commentUpdated`. `mentions` replaces those of the comment: people who were not mentioned before are notified.",
    errors: ["NOT_FOUND"],
    body: CommentUpdate,
    done: "Comment updated",
    data: z.object({ comment: Comment, unnotified }),
    handle: (ctx, { params, body }) => {
      const data = { commentId: params.commentId, ...body };
      return editComment(ctx, params.roomId, { type: "COMMENT_EDIT", data });
    },
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "deleteComment",
    summary: "Delete a comment",
    details:
      "The organization may delete every comment. The others of its thread stay. Everyone in the room receives `commentDeleted`.",
    errors: ["NOT_FOUND"],
    done: "Comment deleted",
    data: z.object({ comment: Comment.meta({ description: "The comment as it was." }) }),
    handle: (ctx, { params: { roomId, commentId } }) =>
      requestRoom(ctx, roomId, { type: "COMMENT_DELETE", requestId: undefined, data: { commentId } }),
  }),
];

export const messagingEndpoints = [...ofComments, ...ofMessages];
