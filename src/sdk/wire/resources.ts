/** The resources of the REST interface and the protocol, inferred from the service's own schemas. */
export type { ApiKey } from "../../accounts/schema.ts";
export type { AuditEntry } from "../../audit/schema.ts";
export type { DeliveryStats } from "../../delivery/stats/schema.ts";
export type { FoundFile, StorageFile, UploadResult } from "../../files/schema.ts";
export type { Invitation, Member } from "../../members/schema.ts";
export type { Hour, Overview, Usage } from "../../metrics/schema.ts";
export type { Organization as OrganizationRecord } from "../../organizations/schema.ts";
export type { PersonalData, PersonalRecord } from "../../privacy/schema.ts";
export type { Quota } from "../../quotas/schema.ts";
export type { Comment } from "../../realtime/protocol/comment.ts";
export type { DocumentAuthor } from "../../realtime/rest/author-schema.ts";
export type { DocumentChange, DocumentSegment } from "../../realtime/rest/comparison-schema.ts";
export type { DocumentContent, SharedTypeName } from "../../realtime/rest/content-schema.ts";
export type { DocumentDetails, DocumentSummary } from "../../realtime/rest/document-schema.ts";
export type { DocumentVersion, TrailEntry } from "../../realtime/rest/history-schema.ts";
export type { ApiRequest } from "../../request-log/schema.ts";
export type { ListedRoom, Room } from "../../rooms/schema.ts";
export type {
  IssuedToken,
  Role,
  User as UserRecord,
  UserSession,
  UserWithToken,
} from "../../users/schema.ts";
export type { Delivery, DeliveryAttempt } from "../../webhooks/delivery-schema.ts";
export type { Replay } from "../../webhooks/replay-schema.ts";
export type { Webhook, WebhookWithSecret } from "../../webhooks/schema.ts";
export type { CurrentExecution, LogLine, WorkflowExecution } from "../../workflows/execution-schema.ts";
export type { Workflow } from "../../workflows/schema.ts";
export type { WorkflowSecret } from "../../workflows/secret-schema.ts";
export type { WorkflowWithSecret } from "../../workflows/trigger-schema.ts";
export type { WorkflowVersion, WorkflowVersionSummary } from "../../workflows/version-schema.ts";

/** What a user shows of itself right now: any JSON object, to which the service adds a `color`. */
export type PresenceState = Readonly<Record<string, unknown>>;
