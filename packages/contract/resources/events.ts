/** The events as webhooks and workflows receive them. The SDK infers its types from it. */
import * as z from "zod";
import { Timestamp } from "../time.ts";
import { Comment } from "./comment.ts";
import { eventsOf, namesIn, OTHER_EVENTS, ROOM_EVENTS } from "./event-names.ts";
import { StorageFile } from "./file.ts";
import { Group, IDENTITY_KINDS, Identity } from "./identity.ts";
import { CHANNELS } from "./notification-settings.ts";
import { Room } from "./room.ts";
import { NotificationReference } from "./sent-notification.ts";
import { Suggestion } from "./suggestion.ts";
import { Thread } from "./thread.ts";
import { User } from "./user.ts";

/** The events of rooms. Workflows run on no others. */
export const EventName = z
  .enum(namesIn(ROOM_EVENTS), {
    error: ({ input }) =>
      typeof input === "string" && Object.hasOwn(OTHER_EVENTS, input)
        ? `${input} belongs to no room, and a workflow runs in a room: use a webhook for it`
        : undefined,
  })
  .meta({ id: "EventName" });
export type EventName = z.infer<typeof EventName>;

/** The events of webhooks: also those that belong to no room. */
export const WebhookEventName = z
  .enum([...namesIn(ROOM_EVENTS), ...namesIn(OTHER_EVENTS)])
  .meta({ id: "WebhookEventName" });
export type WebhookEventName = z.infer<typeof WebhookEventName>;

const eventOf = <Kind extends string>(kind: Kind) => z.enum(eventsOf(kind));

/** The events of workflows: also their schedules and requests. */
export const WorkflowEventName = z
  .enum([...EventName.options, "workflow.scheduled", "workflow.triggered"])
  .meta({ id: "WorkflowEventName" });
export type WorkflowEventName = z.infer<typeof WorkflowEventName>;

const stamp = {
  id: z
    .uuid()
    .meta({ description: "The same for every subscriber and attempt; recognize repetitions by it." }),
  timestamp: Timestamp.meta({ description: "When the event happened." }),
};

const common = {
  ...stamp,
  room: Room.meta({ description: "The room right after the event." }),
};

/** Fields of events that an action of a workflow has caused. */
const cause = {
  depth: z.int().min(1).optional().meta({
    description:
      "Only if an action of a workflow has caused the event: 1, or one more than the event of its run had. A workflow does not run on events above 5.",
  }),
  workflowId: z.uuid().optional().meta({ description: "That workflow." }),
};

const roomId = z.uuid();
const userId = z.uuid();
const user = User.meta({ description: "The user right after the event, without its token." });

/**
 * A file was stored or deleted; `room.deleted` covers a room's files. `userId` is absent for the back end
 * and workflows.
 */
export const FileEvent = z
  .object({
    ...common,
    ...cause,
    event: eventOf("file"),
    data: z.object({ roomId, key: z.string(), userId: z.string().optional() }),
    file: StorageFile.meta({ description: "The file right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "FileEvent" });
export type FileEvent = z.infer<typeof FileEvent>;

/** One event for all changes of a store within five seconds, without values. */
export const StoreEvent = z
  .object({
    ...common,
    ...cause,
    event: z.literal("store.changed"),
    data: z.object({
      roomId,
      store: z.string().meta({ description: "The store's name." }),
      fromSeq: z.int().meta({ description: "The `seq` of the first change that the event reports." }),
      toSeq: z.int().meta({
        description:
          "The `seq` of the room's last change so far: entries whose `version` is in this range were written, those that are missing deleted.",
      }),
    }),
  })
  .meta({ id: "StoreEvent" });
export type StoreEvent = z.infer<typeof StoreEvent>;

const document = z.string().meta({ description: "The document's name." });

/** A document was created, by its first update, or deleted with its history. */
export const DocumentEvent = z
  .object({
    ...common,
    event: z.enum(["document.created", "document.deleted"]),
    data: z.object({ roomId, document }),
  })
  .meta({ id: "DocumentEvent" });
export type DocumentEvent = z.infer<typeof DocumentEvent>;

/** One event for all updates of a document within ten seconds, without content. */
export const DocumentUpdatedEvent = z
  .object({
    ...common,
    event: z.literal("document.updated"),
    data: z.object({
      roomId,
      document,
      fromSeq: z.int().meta({ description: "The number of the first update that the event reports." }),
      toSeq: z.int().meta({ description: "The number of the last one. The trail says who wrote them." }),
    }),
  })
  .meta({ id: "DocumentUpdatedEvent" });
export type DocumentUpdatedEvent = z.infer<typeof DocumentUpdatedEvent>;

/** The room made a version of a document, or someone named the document as it is. */
export const VersionEvent = z
  .object({
    ...common,
    event: z.literal("version.created"),
    data: z.object({
      roomId,
      document,
      version: z.int().meta({ description: "The number of the latest update that it has." }),
      name: z.string().nullable().meta({ description: "Null for one that the room made by itself." }),
    }),
  })
  .meta({ id: "VersionEvent" });
export type VersionEvent = z.infer<typeof VersionEvent>;

const suggestionId = z.uuid();
const suggestion = Suggestion.meta({ description: "The suggestion right after the event." });

/** Changes of a document were suggested. */
export const SuggestionCreatedEvent = z
  .object({
    ...common,
    ...cause,
    event: z.literal("suggestion.created"),
    data: z.object({ roomId, document, suggestionId }),
    suggestion,
  })
  .meta({ id: "SuggestionCreatedEvent" });
export type SuggestionCreatedEvent = z.infer<typeof SuggestionCreatedEvent>;

/** A suggestion was reviewed: its accepted parts are in the document. */
export const SuggestionReviewedEvent = z
  .object({
    ...common,
    ...cause,
    event: z.literal("suggestion.reviewed"),
    data: z.object({
      roomId,
      document,
      suggestionId,
      accepted: z.int().min(0).meta({ description: "The number of accepted parts." }),
      rejected: z.int().min(0).meta({
        description: "The number of rejected parts; 0 when the suggestion was too large to be compared.",
      }),
    }),
    suggestion,
  })
  .meta({ id: "SuggestionReviewedEvent" });
export type SuggestionReviewedEvent = z.infer<typeof SuggestionReviewedEvent>;

/** Reactions cause no event. `userId` is absent for the back end, except for the author of a comment it created. */
export const CommentEvent = z
  .object({
    ...common,
    ...cause,
    event: eventOf("comment"),
    data: z.object({ roomId, commentId: z.uuid(), threadId: z.uuid(), userId: z.string().optional() }),
    comment: Comment.meta({
      description: "The comment right after the event; as it was, if it was deleted.",
    }),
  })
  .meta({ id: "CommentEvent" });
export type CommentEvent = z.infer<typeof CommentEvent>;

/** A thread was started, resolved, or deleted with its last comment. `userId` is absent for the back end. */
export const ThreadEvent = z
  .object({
    ...common,
    ...cause,
    event: eventOf("thread"),
    data: z.object({ roomId, threadId: z.uuid(), userId: z.string().optional() }),
    thread: Thread.meta({ description: "The thread right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "ThreadEvent" });
export type ThreadEvent = z.infer<typeof ThreadEvent>;

/** A comment of the mentioning comment's thread. */
const ThreadText = Comment.pick({ id: true, user_id: true, text: true, created_at: true });

/**
 * A comment mentions an agent, by its identity, its user or a group: one event for each agent and comment. It wakes the
 * agent, and reaches its inbox as well.
 */
export const AgentMentionedEvent = z
  .object({
    ...common,
    ...cause,
    event: z.literal("agent.mentioned"),
    data: z.object({
      roomId,
      threadId: z.uuid(),
      commentId: z.uuid(),
      identityId: z.uuid().meta({ description: "The mentioned agent: an identity of kind `agent`." }),
      userId: z.string().meta({ description: "The user who wrote the comment." }),
      by: z
        .object({
          identityId: z.uuid().nullable().meta({ description: "Null for a user without an identity." }),
          kind: z.enum(IDENTITY_KINDS).meta({
            description: "The kind of the identity; `person` for a user without one.",
          }),
        })
        .meta({ description: "The author of the comment." }),
      depth: z.int().min(1).meta({
        description:
          "The length of the chain of mentions: 1 for a mention by a person. A mention by an agent has one more than the latest mention of that agent in the room within a day; above 5 no one is woken.",
      }),
    }),
    comment: Comment.meta({ description: "The comment right after the event." }),
    thread: z
      .object({
        id: z.uuid(),
        user_id: z.string().nullable().meta({
          description: "The user who started it. Null once that comment is deleted.",
        }),
        metadata: Comment.shape.metadata.meta({ description: "That of the comment that started it." }),
        comments: z.array(ThreadText).meta({
          description:
            "The latest 20 other comments, oldest first; at most 32 KiB of text, and the first 8 KiB of each.",
        }),
      })
      .meta({ description: "The thread, with the text that the agent needs to answer." }),
  })
  .meta({ id: "AgentMentionedEvent" });
export type AgentMentionedEvent = z.infer<typeof AgentMentionedEvent>;

export const ParticipantEvent = z
  .object({
    ...common,
    event: eventOf("participant"),
    data: z.object({ roomId, userId, sessionId: z.uuid() }),
    user,
  })
  .meta({ id: "ParticipantEvent" });
export type ParticipantEvent = z.infer<typeof ParticipantEvent>;

/** The first user joined an empty room; `sessionId` is the room's occupancy period, which lasts until it is empty again. */
export const SessionStartedEvent = z
  .object({
    ...common,
    event: z.literal("session.started"),
    data: z.object({ roomId, sessionId: z.uuid() }),
  })
  .meta({ id: "SessionStartedEvent" });
export type SessionStartedEvent = z.infer<typeof SessionStartedEvent>;

export const SessionClosedEvent = z
  .object({
    ...common,
    event: z.literal("session.closed"),
    data: z.object({ roomId, sessionId: z.uuid() }),
    users: z.array(User).meta({
      description:
        "The users who took part, in the order in which they first joined; at most 128 KiB of them.",
    }),
  })
  .meta({ id: "SessionClosedEvent" });
export type SessionClosedEvent = z.infer<typeof SessionClosedEvent>;

/** A room was created; its name or custom ID was changed, or it was reopened; it was closed; or it was deleted. */
export const RoomEvent = z
  .object({
    ...common,
    event: eventOf("room"),
    data: z.object({ roomId }),
    room: Room.meta({ description: "The room right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "RoomEvent" });
export type RoomEvent = z.infer<typeof RoomEvent>;

/** The access of identities, groups or anyone to the room was changed. */
export const AccessEvent = z
  .object({ ...common, event: z.literal("access.changed"), data: z.object({ roomId }) })
  .meta({ id: "AccessEvent" });
export type AccessEvent = z.infer<typeof AccessEvent>;

/** A user was created, changed or deleted over REST. */
export const UserEvent = z
  .object({
    ...common,
    event: eventOf("user"),
    data: z.object({ roomId, userId }),
    user,
  })
  .meta({ id: "UserEvent" });
export type UserEvent = z.infer<typeof UserEvent>;

export const Event = z
  .discriminatedUnion("event", [
    ParticipantEvent,
    SessionStartedEvent,
    SessionClosedEvent,
    UserEvent,
    CommentEvent,
    ThreadEvent,
    AgentMentionedEvent,
    StoreEvent,
    DocumentEvent,
    DocumentUpdatedEvent,
    VersionEvent,
    SuggestionCreatedEvent,
    SuggestionReviewedEvent,
    RoomEvent,
    AccessEvent,
    FileEvent,
  ])
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

const identityId = z.uuid().meta({ description: "The identity's ID." });

/** An identity was created, changed or deleted. It belongs to no room. */
export const IdentityEvent = z
  .object({
    ...stamp,
    event: eventOf("identity"),
    data: z.object({ identityId }),
    identity: Identity.meta({
      description:
        "The identity right after the event, with its email address if it has one. Erased, if it was deleted.",
    }),
  })
  .meta({ id: "IdentityEvent" });
export type IdentityEvent = z.infer<typeof IdentityEvent>;

/** A group was created, changed or deleted, or an identity joined or left it. It belongs to no room. */
export const GroupEvent = z
  .object({
    ...stamp,
    event: eventOf("group"),
    data: z.object({
      groupId: z.uuid().meta({ description: "The group's ID." }),
      identityId: identityId.optional().meta({
        description: "The identity that was added to the group or taken out of it. Absent otherwise.",
      }),
    }),
    group: Group.meta({ description: "The group right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "GroupEvent" });
export type GroupEvent = z.infer<typeof GroupEvent>;

/** Notifications of an identity have stayed unread, and your own back end is to send them. The event belongs to no room. */
export const NotificationEvent = z
  .object({
    ...stamp,
    event: z.literal("notification"),
    data: z.object({
      identityId,
      channel: z.enum(CHANNELS).meta({ description: "The channel by which you are to send them." }),
      notifications: z
        .array(NotificationReference)
        .meta({ description: "They are unread, and the identity may read them, at the event's time." }),
    }),
    identity: Identity.meta({ description: "The identity, with its email address if it has one." }),
  })
  .meta({ id: "NotificationEvent" });
export type NotificationEvent = z.infer<typeof NotificationEvent>;

/** An event about one identity. */
export const EventOfIdentity = z.discriminatedUnion("event", [IdentityEvent, NotificationEvent]);
export type EventOfIdentity = z.infer<typeof EventOfIdentity>;

/** An event without its id, timestamp and cause, which are added when it is recorded. */
export type EventDraft = WithoutStamp<Event>;
/** Likewise, of an event that belongs to no room. */
export type OrganizationEventDraft = WithoutStamp<EventOfIdentity | GroupEvent>;
type WithoutStamp<Any> = Any extends unknown ? Omit<Any, "id" | "timestamp" | "depth" | "workflowId"> : never;
