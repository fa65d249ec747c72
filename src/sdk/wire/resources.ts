/** The public resources and events of the REST interface and the protocol, inferred from the service's own schemas. */

import type { Permission } from "../../wire/permissions.ts";

export type {
  AccessDecision,
  AccessEntry,
  RoomAccess,
} from "../../features/access/schema.ts";
export type { ApiKey } from "../../features/accounts/schema.ts";
export type { AuditEntry } from "../../features/audit/schema.ts";
export type { DeliveryStats, DeliveryTotals } from "../../features/deliveries/schema.ts";
export type { FoundFile } from "../../features/files/schema.ts";
export type {
  GroupMember,
  Identified,
  IdentityToken,
  RedeemedLink,
  RoomLink,
  RoomOfIdentity,
} from "../../features/identities/schema.ts";
export type { InboxNotification } from "../../features/inbox/schema.ts";
export type { Invitation, Member } from "../../features/members/schema.ts";
export type { Hour, Overview, Usage } from "../../features/metrics/schema.ts";
export type { Organization as OrganizationRecord } from "../../features/organizations/schema.ts";
export type { PersonalRecord, RecordOfIdentity } from "../../features/privacy/schema.ts";
export type { Quota } from "../../features/quotas/schema.ts";
export type { ApiRequest } from "../../features/request-log/schema.ts";
export type {
  DocumentAuthor,
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSegment,
  DocumentSummary,
  DocumentVersion,
  SharedTypeName,
  TrailEntry,
} from "../../features/room-content/documents/schema.ts";
export type {
  StoreEntry as Entry,
  StorePage as Entries,
  StoreSummary,
  WrittenEntry as Written,
} from "../../features/room-content/schema.ts";
export type { ListedRoom } from "../../features/rooms/schema.ts";
export type { FoundUser, IssuedToken, UserWithToken } from "../../features/users/schema.ts";
export type { Delivery, DeliveryAttempt, Replay } from "../../features/webhooks/delivery-schema.ts";
export type { ListedWebhook, Webhook, WebhookWithSecret } from "../../features/webhooks/schema.ts";
export type {
  CurrentExecution,
  LogLine,
  WorkflowExecution,
} from "../../features/workflows/execution-schema.ts";
export type { Workflow, WorkflowSecret, WorkflowWithSecret } from "../../features/workflows/schema.ts";
export type { WorkflowVersion, WorkflowVersionSummary } from "../../features/workflows/version-schema.ts";
export type { Comment } from "../../wire/comment.ts";
export type { StorageFile, UploadResult } from "../../wire/file.ts";
export type { Group, Identity } from "../../wire/identity.ts";
export type { Permission } from "../../wire/permissions.ts";
export type { PushSubscriptions } from "../../wire/push-subscription.ts";
export type { Room } from "../../wire/room.ts";
export type { Mention, SubscriptionSettings, Thread, ThreadParticipant } from "../../wire/thread.ts";
export type { Role, User, UserSession } from "../../wire/user.ts";

type NameIn<Each> = Each extends `${infer Name}:${string}` ? Name : never;

/** A part of a room that may be changed by a permission of its own. */
export type Resource = Exclude<NameIn<Permission>, "*">;

/** A user's presence state: any JSON object, to which the service adds a `color`. */
export type PresenceState = Readonly<Record<string, unknown>>;

export type { EventPage } from "../../features/events/schema.ts";
export type { WebhookBackloggedEvent } from "../../features/webhooks/schema.ts";
export type {
  AccessEvent,
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
  UserEvent,
  VersionEvent,
  WebhookEventName,
  WorkflowEventName,
} from "../../wire/events.ts";
export type { NotificationDefaults, NotificationSettings } from "../../wire/notification-settings.ts";
export type { SentNotifications } from "../../wire/sent-notification.ts";
export type {
  WorkflowDisabledEvent,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "../../wire/workflow-events.ts";
