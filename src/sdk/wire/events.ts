/** The events that webhooks and workflows receive, inferred from the service's own schemas. */

export type {
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  FileEvent,
  StoreEvent,
  VersionEvent,
} from "../../delivery/content-events.ts";
export type {
  Event as AtriumEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  UserEvent,
} from "../../delivery/events.ts";
export type { EventName, WebhookEventName, WorkflowEventName } from "../../delivery/port/event-name.ts";
export type {
  WorkflowDisabledEvent,
  WorkflowEvent,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "../../delivery/workflow-events.ts";
export type { EventPage } from "../../features/events/schema.ts";
export type { WebhookBackloggedEvent } from "../../features/webhooks/schema.ts";
