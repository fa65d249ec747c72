/** `atrium/server`: everything that belongs to an organization, for back ends. */
export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { FileFilter, Progress } from "../core/upload.ts";
export type {
  AtriumEvent,
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  EventName,
  EventPage,
  FileEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  StoreEvent,
  UserEvent,
  VersionEvent,
  WebhookBackloggedEvent,
  WebhookEventName,
  WorkflowDisabledEvent,
  WorkflowEventName,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "../wire/events.ts";
export type * from "../wire/requests.ts";
export type {
  ApiKey,
  ApiRequest,
  AuditEntry,
  Comment,
  CurrentExecution,
  Delivery,
  DeliveryAttempt,
  DeliveryStats,
  DocumentAuthor,
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSegment,
  DocumentSummary,
  DocumentVersion,
  Entries,
  Entry,
  FoundFile,
  Hour,
  Invitation,
  IssuedToken,
  ListedRoom,
  LogLine,
  Member,
  OrganizationRecord,
  Overview,
  PersonalRecord,
  PresenceState,
  Quota,
  Replay,
  Role,
  Room,
  SharedTypeName,
  StorageFile,
  StoreSummary,
  TrailEntry,
  UploadResult,
  Usage,
  UserRecord as User,
  UserSession,
  UserWithToken,
  Webhook,
  WebhookWithSecret,
  Workflow,
  WorkflowExecution,
  WorkflowSecret,
  WorkflowVersion,
  WorkflowVersionSummary,
  WorkflowWithSecret,
  Written,
} from "../wire/resources.ts";
export { AtriumServer, type AtriumServerOptions } from "./atrium-server.ts";
export type { CommentFilter, Comments } from "./comments.ts";
export type {
  CompareOptions,
  ContentOptions,
  Documents,
  HistoryOptions,
  PreviewOptions,
  ReadOptions,
  RollbackOptions,
} from "./documents.ts";
export type { EventFilter, Events } from "./events.ts";
export type { FileSearch, Files, ServerUpload } from "./files.ts";
export type { AuditFilter, Organization } from "./organization.ts";
export type {
  FileSort,
  Filter,
  KeySearch,
  MemberSearch,
  Page,
  PageShown,
  RoomSearch,
  Scroll,
  ScrollShown,
  Search,
  UserSearch,
  WebhookSearch,
  WorkflowSearch,
} from "./pages.ts";
export type { RequestFilter, Requests } from "./requests.ts";
export type { Reconciliation, Rooms, RoomWithUsers } from "./rooms.ts";
export type { BatchResponse, EntryPage, StoreBatch, StoreOperation, Stores, WriteOptions } from "./stores.ts";
export type { Users, UserWithSessions } from "./users.ts";
export { verifyWebhook, verifyWebhookBatch, type WebhookHeaders } from "./verify-webhook.ts";
export type { DeliverySearch, Webhooks } from "./webhooks.ts";
export type { Workflows } from "./workflows.ts";
