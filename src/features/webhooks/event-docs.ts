/** Every event that a webhook can receive, with its schema, for the API description. */
import type * as z from "zod";
import {
  AccessEvent,
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  FileEvent,
  GroupEvent,
  IdentityEvent,
  NotificationEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  StoreEvent,
  ThreadEvent,
  UserEvent,
  VersionEvent,
  type WebhookEventName,
} from "../../wire/events.ts";
import { WorkflowDisabledEvent } from "../../wire/workflow-events.ts";
import { WebhookBackloggedEvent } from "./schema.ts";

interface DescribedEvent {
  readonly summary: string;
  readonly schema: z.ZodType;
}

export const WEBHOOK_EVENTS: Readonly<Record<WebhookEventName, DescribedEvent>> = {
  "participant.joined": { summary: "A user came online", schema: ParticipantEvent },
  "participant.left": { summary: "A user went offline", schema: ParticipantEvent },
  "session.started": { summary: "The first user joined an empty room", schema: SessionStartedEvent },
  "session.closed": { summary: "The last user left a room", schema: SessionClosedEvent },
  "user.created": { summary: "A user was created", schema: UserEvent },
  "user.updated": { summary: "A user was changed", schema: UserEvent },
  "user.deleted": { summary: "A user was deleted", schema: UserEvent },
  "comment.created": { summary: "A comment was written", schema: CommentEvent },
  "comment.updated": { summary: "A comment was edited or reopened", schema: CommentEvent },
  "comment.resolved": { summary: "A comment was resolved", schema: CommentEvent },
  "comment.deleted": { summary: "A comment was deleted", schema: CommentEvent },
  "thread.created": { summary: "A thread was started", schema: ThreadEvent },
  "thread.resolved": { summary: "A thread was resolved", schema: ThreadEvent },
  "thread.deleted": { summary: "A thread was deleted with its last comment", schema: ThreadEvent },
  "store.changed": { summary: "A store has changed, once within five seconds", schema: StoreEvent },
  "document.created": { summary: "A document was created", schema: DocumentEvent },
  "document.updated": {
    summary: "A document has changed, once within ten seconds",
    schema: DocumentUpdatedEvent,
  },
  "document.deleted": { summary: "A document was deleted", schema: DocumentEvent },
  "version.created": { summary: "A version of a document was created", schema: VersionEvent },
  "file.uploaded": { summary: "A file was uploaded", schema: FileEvent },
  "file.deleted": { summary: "A file was deleted", schema: FileEvent },
  "room.created": { summary: "A room was created", schema: RoomEvent },
  "room.updated": { summary: "A room was renamed or reopened, or got another custom ID", schema: RoomEvent },
  "room.closed": { summary: "A room was closed", schema: RoomEvent },
  "room.deleted": { summary: "A room was deleted", schema: RoomEvent },
  "access.changed": { summary: "The access to a room was changed", schema: AccessEvent },
  "identity.created": { summary: "An identity was created", schema: IdentityEvent },
  "identity.updated": { summary: "An identity was changed", schema: IdentityEvent },
  "identity.deleted": { summary: "An identity was deleted", schema: IdentityEvent },
  "group.created": { summary: "A group was created", schema: GroupEvent },
  "group.updated": { summary: "A group was renamed, or an identity joined or left it", schema: GroupEvent },
  "group.deleted": { summary: "A group was deleted", schema: GroupEvent },
  notification: {
    summary: "Notifications have stayed unread, and your back end is to send them",
    schema: NotificationEvent,
  },
  "webhook.backlogged": { summary: "Another webhook has a high backlog", schema: WebhookBackloggedEvent },
  "workflow.disabled": { summary: "The service has disabled a workflow", schema: WorkflowDisabledEvent },
};
