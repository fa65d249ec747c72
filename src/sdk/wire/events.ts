/** The events that webhooks and workflows receive, inferred from the service's own schemas. */

export type { EventPage } from "../../features/events/schema.ts";
export type { WebhookBackloggedEvent } from "../../features/webhooks/schema.ts";
export type {
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  FileEvent,
  StoreEvent,
  VersionEvent,
} from "../../wire/content-events.ts";
export type { EventName, WebhookEventName, WorkflowEventName } from "../../wire/event-name.ts";
export type {
  Event as AtriumEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  UserEvent,
} from "../../wire/events.ts";
export type {
  WorkflowDisabledEvent,
  WorkflowEvent,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "../../wire/workflow-events.ts";
