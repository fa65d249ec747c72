/** The events that webhooks and workflows receive, inferred from the service's own schemas. */
export type {
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  Event as AtriumEvent,
  FileEvent,
  ParticipantEvent,
  RoomEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  StoreEvent,
  UserEvent,
  VersionEvent,
  WorkflowDisabledEvent,
  WorkflowEvent,
  WorkflowScheduledEvent,
  WorkflowTriggeredEvent,
} from "../../delivery/events.ts";
export type { EventName, WebhookEventName, WorkflowEventName } from "../../delivery/port/event-name.ts";
export type { EventPage } from "../../event-log/schema.ts";
export type { WebhookBackloggedEvent } from "../../webhooks/schema.ts";
