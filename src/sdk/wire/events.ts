/** The events that webhooks and workflows receive, inferred from the service's own schemas. */
export type {
  CommentEvent,
  Event as AtriumEvent,
  ParticipantEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  UserEvent,
} from "../../delivery/events.ts";
export type { EventName } from "../../delivery/port/event-name.ts";
