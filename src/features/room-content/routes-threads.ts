/** Endpoints of threads: readers, subscriptions and read positions. */

import { TextMention } from "@atrium/contract/operations/threads.ts";
import { SubscriptionSettings, Thread, ThreadParticipant } from "@atrium/contract/resources/thread.ts";
import { flag, scrollShape } from "@atrium/contract/rest/lists.ts";
import { text, updateOf } from "@atrium/contract/text.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, toPage } from "../../http/lists.ts";
import { checkBody } from "../../http/request-input.ts";
import { idOf } from "../../platform/d1/rights.ts";
import type { RoomContext } from "../rooms/context.ts";
import { callRoom } from "./commands.ts";
import { callAboutTextMention, callAsReader, listParticipants, listThreads } from "./comments.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const READER = "The reader: a user of the room, or an identity, by its ID.";
const userId = text(1, 255).meta({ description: READER });
const ofReader = { userId: userId.optional().meta({ description: READER }) };
const example = { userId: "5b0e7a34-9c1d-4f28-8e6a-7d2c9f103b55" };

const ReaderBody = z.strictObject({ userId }).meta({ id: "ThreadReader", example });
const ReadBody = z
  .strictObject({
    userId,
    seq: z.int().min(0).optional().meta({
      description:
        "The `seq` up to which the reader has read, such as the thread's `last_seq` when it was shown. If omitted, all.",
    }),
  })
  .meta({ id: "ThreadPosition", example: { ...example, seq: 41 } });

const thread = z.object({ thread: Thread });

const needsReader = (filter: "unread" | "subscribed") =>
  z.refine<{ readonly [Name in typeof filter | "userId"]?: unknown }>(
    (query) => query[filter] === undefined || query.userId !== undefined,
    { path: [filter], error: "is known of a reader only; send userId as well" },
  );
const ThreadsQuery = z
  .object({
    ...scrolling,
    ...ofReader,
    resolved: flag("Only threads that are resolved, or only those that are not."),
    unread: flag(
      "Only threads with comments that the reader has not read, or only those without. Needs `userId`.",
    ),
    subscribed: flag("Only threads of which the reader is notified, or only the others. Needs `userId`."),
  })
  .check(needsReader("unread"), needsReader("subscribed"));

const TEXT_MENTION = "/rooms/:roomId/users/:userId/text-mentions/:mentionId";

/** Changes something for the reader that the body names. */
const readerEndpoint = (
  action: "subscribe" | "unsubscribe",
  operation: string,
  summary: string,
  details: string,
) =>
  endpoint({
    method: "POST",
    path: `/rooms/:roomId/threads/:threadId/${action}`,
    operation,
    isForAgents: false,
    sdk: `threads.${action}(roomId, threadId, userId): thread`,
    right: "own:write",
    summary,
    details,
    errors: ["NOT_FOUND"],
    body: ReaderBody,
    done: "Subscription changed",
    data: thread,
    handle: (ctx, { params: { roomId, threadId }, body }) => {
      const input = { threadId, on: action === "subscribe" };
      return callAsReader(ctx, roomId, body.userId, "THREAD_SUBSCRIBE", input);
    },
  });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/threads",
    operation: "listThreads",
    sdk: [
      "threads.list(roomId, filter?: ThreadFilter): data",
      "threads.each(roomId, filter?: ThreadFilter): each threads",
    ],
    right: "read",
    summary: "List a room's threads",
    details:
      "The latest activity first. With a reader, each thread says what the reader has read, and the filters `unread` and `subscribed` work.",
    errors: ["NOT_FOUND"],
    query: ThreadsQuery,
    done: "Threads retrieved",
    data: z.object({ threads: z.array(Thread).readonly(), ...scrollShape }),
    handle: (ctx, { params, query }) => listThreads(ctx, params.roomId, toPage(query), query),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/threads/:threadId",
    operation: "getThread",
    sdk: "threads.get(roomId, threadId, reader?): thread",
    right: "read",
    summary: "Get a thread",
    details: "With a reader, it says what the reader has read.",
    errors: ["NOT_FOUND"],
    query: z.object(ofReader),
    done: "Thread retrieved",
    data: thread,
    handle: (ctx, { params: { roomId, threadId }, query }) =>
      callAsReader(ctx, roomId, query.userId, "THREAD_GET", { threadId }),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/threads/:threadId/participants",
    operation: "listThreadParticipants",
    sdk: "threads.participants(roomId, threadId): participants",
    right: "read",
    summary: "List the people who take part in a thread",
    details: "The authors of its comments, and the users and identities that are mentioned in it.",
    errors: ["NOT_FOUND"],
    done: "Participants retrieved",
    data: z.object({ participants: z.array(ThreadParticipant).readonly() }),
    handle: (ctx, { params }) => listParticipants(ctx, params.roomId, params.threadId),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId/threads/:threadId",
    operation: "updateThread",
    sdk: "threads.update(roomId, threadId, changes): thread",
    right: "comments:write",
    summary: "Resolve or reopen a thread",
    details:
      "Its first comment is resolved or reopened, and everyone in the room receives that as `commentUpdated`.",
    errors: ["NOT_FOUND"],
    body: z.strictObject({ resolved: z.boolean() }).meta({ id: "ThreadUpdate", example: { resolved: true } }),
    done: "Thread updated",
    data: thread,
    handle: (ctx, { params: { roomId, threadId }, body }) =>
      callRoom(ctx, roomId, "THREAD_RESOLVE", { threadId, ...body }),
  }),
  endpoint({
    method: "DELETE",
    path: "/rooms/:roomId/threads/:threadId",
    operation: "deleteThread",
    sdk: "threads.delete(roomId, threadId)",
    summary: "Delete a thread with its comments",
    details:
      "No request finds the thread or its comments any more, and the thread leaves all inboxes. Everyone in the room receives `commentDeleted` for each comment; of a large thread, most of them follow the response within seconds.",
    errors: ["NOT_FOUND"],
    done: "Thread deleted",
    data: z.object({ thread: Thread.meta({ description: "The thread as it was." }) }),
    handle: (ctx, { params: { roomId, threadId } }) => callRoom(ctx, roomId, "THREAD_DELETE", { threadId }),
  }),
  readerEndpoint(
    "subscribe",
    "subscribeToThread",
    "Notify a reader of a thread's comments",
    "Whatever the reader's settings are.",
  ),
  readerEndpoint(
    "unsubscribe",
    "unsubscribeFromThread",
    "Notify a reader of a thread's comments no longer",
    "Not even when the reader is mentioned in it.",
  ),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/threads/:threadId/mark-as-read",
    operation: "markThreadAsRead",
    isForAgents: false,
    sdk: "threads.markAsRead(roomId, threadId, userId, seq?): thread",
    right: "read",
    summary: "Record that a reader has read a thread",
    details:
      "A position, not a mark: comments after it stay unread. An earlier position changes nothing. The thread is read in the reader's inbox as well.",
    errors: ["NOT_FOUND"],
    body: ReadBody,
    done: "Thread read",
    data: thread,
    handle: (ctx, { params: { roomId, threadId }, body }) => {
      const input = { threadId, seq: body.seq };
      return callAsReader(ctx, roomId, body.userId, "THREAD_READ", input);
    },
  }),
  endpoint({
    method: "PUT",
    path: TEXT_MENTION,
    operation: "createTextMention",
    isForAgents: false,
    sdk: "documents.mention(roomId, { mentionId, userId, document }): notified",
    right: "documents:write",
    summary: "Notify a reader of a mention in a document",
    details:
      "For editors in whose texts people are mentioned. The reader is a user of the room, or an identity. A mention, by your own ID of it, is notified of once, and not if the reader's settings say `textMentions: none`.",
    errors: ["NOT_FOUND"],
    body: z
      .strictObject({
        document: TextMention.shape.document.meta({ description: "The name of the document." }),
      })
      .meta({ id: "TextMention", example: { document: "notes" } }),
    done: "Mention created",
    data: z.object({
      unnotified: z.array(z.string()).optional().meta({
        description: "The reader, if it does not exist or may not read the room; else absent.",
      }),
    }),
    handle: (ctx, { params: { roomId, userId, mentionId }, body }) => {
      const mention = { mentionId, userId: idOf(ctx, userId), ...body };
      const data = checkBody(TextMention, mention, "Rooms");
      return callAboutTextMention(ctx, roomId, "TEXT_MENTION_CREATE", data);
    },
  }),
  endpoint({
    method: "DELETE",
    path: TEXT_MENTION,
    operation: "deleteTextMention",
    isForAgents: false,
    sdk: "documents.unmention(roomId, { mentionId, userId })",
    right: "documents:write",
    summary: "Take back a mention in a document",
    details: "The mention was taken out of the text: it leaves the reader's inbox for good.",
    errors: ["NOT_FOUND", "VALIDATION_ERROR"],
    done: "Mention deleted",
    data: z.object({}),
    handle: (ctx, { params: { roomId, userId, mentionId } }) => {
      const data = checkBody(TextMention, { mentionId, userId: idOf(ctx, userId) }, "Rooms");
      return callAboutTextMention(ctx, roomId, "TEXT_MENTION_DELETE", data);
    },
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/users/:userId/subscription-settings",
    operation: "getSubscriptionSettings",
    sdk: "threads.settings(roomId, userId): settings",
    right: "read",
    summary: "Get what a reader is notified of in a room",
    details: "The reader is a user of the room, or an identity.",
    errors: ["NOT_FOUND"],
    done: "Settings retrieved",
    data: z.object({ settings: SubscriptionSettings }),
    handle: (ctx, { params: { roomId, userId } }) =>
      callAsReader(ctx, roomId, userId, "SUBSCRIPTION_SETTINGS", {}),
  }),
  endpoint({
    method: "PATCH",
    path: "/rooms/:roomId/users/:userId/subscription-settings",
    operation: "updateSubscriptionSettings",
    isForAgents: false,
    sdk: "threads.updateSettings(roomId, userId, changes): settings",
    right: "own:write",
    summary: "Change what a reader is notified of in a room",
    details: "Fields that are left out stay. The reader is a user of the room, or an identity.",
    errors: ["NOT_FOUND"],
    body: updateOf(SubscriptionSettings.partial().shape).meta({
      id: "SubscriptionSettingsUpdate",
      example: { threads: "all" },
    }),
    done: "Settings changed",
    data: z.object({ settings: SubscriptionSettings }),
    handle: (ctx, { params: { roomId, userId }, body }) =>
      callAsReader(ctx, roomId, userId, "SUBSCRIPTION_SETTINGS", body),
  }),
];
