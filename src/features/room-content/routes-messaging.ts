/** Endpoints of data that a room does not store: broadcasts, presence and participants. */

import {
  CommentPost,
  CommentReaction,
  CommentUpdate,
  unnotified,
} from "@atrium/contract/operations/comments.ts";
import { BroadcastData } from "@atrium/contract/operations/presence.ts";
import { JsonObject } from "@atrium/contract/operations/values.ts";
import { Comment } from "@atrium/contract/resources/comment.ts";
import { flag, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import { text } from "@atrium/contract/text.ts";
import { Timestamp } from "@atrium/contract/time.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, toPage } from "../../http/lists.ts";
import { requestIdOf } from "../../platform/d1/context.ts";
import { userOf } from "../../platform/d1/rights.ts";
import type { RoomContext } from "../rooms/context.ts";
import { addParticipant, callRoom } from "./commands.ts";
import { editComment, listComments, postComment, reactToComment } from "./comments.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const Broadcast = BroadcastData.strict().meta({
  id: "Broadcast",
  example: { event: "announcement", data: { text: "We begin in five minutes" } },
});

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
    sdk: "broadcast(roomId, event, data = null, userIds?): delivered",
    right: "broadcasts:write",
    summary: "Send a message to the users who are online in a room",
    details:
      "The message is not stored. Its `from` is the user whose token sends it, and null for the back end.",
    errors: ["NOT_FOUND"],
    body: Broadcast,
    done: "Broadcast sent",
    data: z.object({
      delivered: z.int().meta({ description: "The number of users reached.", minimum: 0, example: 2 }),
    }),
    handle: (ctx, { params, body }) =>
      callRoom(ctx, params.roomId, "BROADCAST", body, { requestId: requestIdOf(ctx) }),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/presence",
    operation: "getPresence",
    sdk: "getPresence(roomId): presence as Record<string, PresenceState>",
    right: "read",
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
    handle: (ctx, { params }) => callRoom(ctx, params.roomId, "PRESENCE_GET", {}),
  }),
  endpoint({
    method: "PUT",
    path: "/rooms/:roomId/participants/:userId",
    operation: "addParticipant",
    sdk: "addParticipant(roomId, userId, participation?): expires_at",
    right: "presence:write",
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
      return addParticipant(ctx, params.roomId, userOf(ctx, params.userId), { state, ttl });
    },
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/participants/:userId",
    operation: "removeParticipant",
    sdk: "removeParticipant(roomId, userId)",
    summary: "Close a user's connections",
    details:
      "The user leaves at once. Its clients do not connect again by themselves, but the user may join again: end its tokens, or delete it, to keep it out.",
    errors: ["NOT_FOUND"],
    done: "Participant removed",
    data: z.object({}),
    handle: (ctx, { params: { roomId, userId } }) => callRoom(ctx, roomId, "PARTICIPANT_REMOVE", { userId }),
  }),
];

const CommentQuery = z.object({
  ...scrolling,
  ...searching("the comment's text"),
  threadId: text(1, 255).optional().meta({ description: "Only the comments of one thread." }),
  resolved: flag("Only comments that are resolved, or only those that are not."),
});

const ofComments = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/comments",
    operation: "listComments",
    sdk: [
      "comments.list(roomId, filter?: CommentFilter): data",
      "comments.each(roomId, filter?: CommentFilter): each comments",
    ],
    right: "read",
    summary: "List a room's comments",
    details:
      "Oldest first. A search reads all comments of the room, or of the thread: up to 10,000, a thousand at a time.",
    errors: ["NOT_FOUND"],
    query: CommentQuery,
    done: "Comments retrieved",
    data: z.object({ comments: z.array(Comment).readonly(), ...scrollShape }),
    handle: (ctx, { params, query }) => listComments(ctx, params.roomId, toPage(query), query),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/comments",
    operation: "createComment",
    sdk: "comments.create(roomId, comment): comment",
    right: "comments:write",
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
    handle: (ctx, { params, body }) => postComment(ctx, params.roomId, body, requestIdOf(ctx)),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "updateComment",
    sdk: "comments.update(roomId, commentId, changes): comment",
    right: "comments:write",
    summary: "Edit, resolve or reopen a comment",
    details:
      "The organization may change every comment. Everyone in the room receives the change as `commentUpdated`. `mentions` replaces those of the comment: people who were not mentioned before are notified.",
    errors: ["NOT_FOUND"],
    body: CommentUpdate,
    done: "Comment updated",
    data: z.object({ comment: Comment, unnotified }),
    handle: (ctx, { params: { roomId, commentId }, body }) =>
      editComment(ctx, roomId, { commentId, ...body }),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/comments/:commentId/reactions",
    operation: "reactToComment",
    sdk: "comments.react(roomId, commentId, userId, reaction, on?): comment",
    right: "comments:write",
    summary: "React to a comment on behalf of a user, or take that back",
    details:
      "Everyone in the room receives the change as `commentUpdated`. A reaction that is there changes nothing.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The comment has as many reactions as it can, or this one has as many users.",
      "Take another reaction of the comment back.",
    ],
    body: CommentReaction,
    done: "Comment updated",
    data: z.object({ comment: Comment }),
    handle: (ctx, { params: { roomId, commentId }, body }) =>
      reactToComment(ctx, roomId, commentId, body, requestIdOf(ctx)),
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/comments/:commentId",
    operation: "deleteComment",
    sdk: "comments.delete(roomId, commentId)",
    right: "comments:write",
    summary: "Delete a comment",
    details:
      "The organization may delete every comment. The others of its thread stay. Everyone in the room receives `commentDeleted`.",
    errors: ["NOT_FOUND"],
    done: "Comment deleted",
    data: z.object({ comment: Comment.meta({ description: "The comment as it was." }) }),
    handle: (ctx, { params: { roomId, commentId } }) =>
      callRoom(ctx, roomId, "COMMENT_DELETE", { commentId }),
  }),
];

export const endpoints = [...ofComments, ...ofMessages];
