/** The public resources and events of the REST interface and the protocol, inferred from the service's own schemas. */

import type { Permission } from "@atrium/contract/resources/permissions.ts";

export type { DocumentAuthor } from "@atrium/contract/resources/author.ts";
export type { Comment } from "@atrium/contract/resources/comment.ts";
export type { StorageFile, UploadResult } from "@atrium/contract/resources/file.ts";
export type { Group, Identity } from "@atrium/contract/resources/identity.ts";
export type { Permission } from "@atrium/contract/resources/permissions.ts";
export type { PushSubscriptions } from "@atrium/contract/resources/push-subscription.ts";
export type { Room } from "@atrium/contract/resources/room.ts";
export type {
  StoreEntry as Entry,
  StorePage as Entries,
  StoreSummary,
  WrittenEntry as Written,
} from "@atrium/contract/resources/store.ts";
export type { SuggestedPart, Suggestion } from "@atrium/contract/resources/suggestion.ts";
export type {
  Mention,
  SubscriptionSettings,
  Thread,
  ThreadParticipant,
} from "@atrium/contract/resources/thread.ts";
export type { Role, User, UserSession } from "@atrium/contract/resources/user.ts";
export type {
  AccessDecision,
  AccessEntry,
  RoomAccess,
} from "@atrium/contract/rest/access.ts";
export type { ApiKey } from "@atrium/contract/rest/api-keys.ts";
export type { AuditEntry } from "@atrium/contract/rest/audit.ts";
export type { DeliveryStats, DeliveryTotals } from "@atrium/contract/rest/deliveries.ts";
export type {
  ChangedBlock,
  DocumentBlock,
  EditedDocument,
  ReadBlocks,
} from "@atrium/contract/rest/document-edits.ts";
export type {
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSegment,
  DocumentSummary,
  DocumentVersion,
  SharedTypeName,
  TrailEntry,
} from "@atrium/contract/rest/documents.ts";
export type { FoundFile } from "@atrium/contract/rest/files.ts";
export type {
  GroupMember,
  Identified,
  IdentityToken,
  RedeemedLink,
  RoomLink,
  RoomOfIdentity,
} from "@atrium/contract/rest/identities.ts";
export type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
export type { Invitation, Member } from "@atrium/contract/rest/members.ts";
export type { Hour, Overview, Usage } from "@atrium/contract/rest/metrics.ts";
export type { Organization as OrganizationRecord } from "@atrium/contract/rest/organizations.ts";
export type { PersonalRecord, RecordOfIdentity } from "@atrium/contract/rest/privacy.ts";
export type { Quota } from "@atrium/contract/rest/quotas.ts";
export type { ApiRequest } from "@atrium/contract/rest/request-log.ts";
export type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
export type { FoundUser, IssuedToken, UserWithToken } from "@atrium/contract/rest/users.ts";
export type { Delivery, DeliveryAttempt, Replay } from "@atrium/contract/rest/webhook-deliveries.ts";
export type { ListedWebhook, Webhook, WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
export type {
  CurrentExecution,
  LogLine,
  WorkflowExecution,
} from "@atrium/contract/rest/workflow-executions.ts";
export type { WorkflowSecret, WorkflowWithSecret } from "@atrium/contract/rest/workflow-triggers.ts";
export type { WorkflowVersion, WorkflowVersionSummary } from "@atrium/contract/rest/workflow-versions.ts";
export type { Workflow } from "@atrium/contract/rest/workflows.ts";

type NameIn<Each> = Each extends `${infer Name}:${string}` ? Name : never;

/** A part of a room that may be changed by a permission of its own. */
export type Resource = Exclude<NameIn<Permission>, "*">;

/** A user's presence state: any JSON object, to which the service adds a `color`. */
export type PresenceState = Readonly<Record<string, unknown>>;

export type {
  AccessEvent,
  AgentMentionedEvent,
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  Event as AtriumEvent,
  EventName,
  FileEvent,
  GroupEvent,
  IdentityEvent,
  NotificationEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  StoreEvent,
  SuggestionCreatedEvent,
  SuggestionReviewedEvent,
  UserEvent,
  VersionEvent,
  WebhookEventName,
  WorkflowEventName,
} from "@atrium/contract/resources/events.ts";
export type {
  NotificationDefaults,
  NotificationSettings,
} from "@atrium/contract/resources/notification-settings.ts";
export type { SentNotifications } from "@atrium/contract/resources/sent-notification.ts";
export type {
  WorkflowDisabledEvent,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "@atrium/contract/resources/workflow-events.ts";
export type { EventPage, MentionPage } from "@atrium/contract/rest/event-log.ts";
export type { WebhookBackloggedEvent } from "@atrium/contract/rest/webhooks.ts";
