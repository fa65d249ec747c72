/** The names of the events that subscribers can receive. */
import * as z from "zod";

/** The seven events of live rooms and users (spec section 6), then those of comments, stores, documents, files and rooms. */
export const EventName = z
  .enum([
    "participant.joined",
    "participant.left",
    "session.started",
    "session.closed",
    "user.created",
    "user.updated",
    "user.deleted",
    "comment.created",
    "comment.updated",
    "comment.resolved",
    "comment.deleted",
    "store.changed",
    "document.created",
    "document.updated",
    "document.deleted",
    "version.created",
    "file.uploaded",
    "file.deleted",
    "room.created",
    "room.updated",
    "room.closed",
    "room.deleted",
  ])
  .meta({ id: "EventName" });
export type EventName = z.infer<typeof EventName>;

/** What webhooks can receive: also what the service notices of other webhooks and of workflows, which concerns no room. */
export const WebhookEventName = z
  .enum([...EventName.options, "webhook.backlogged", "workflow.disabled"])
  .meta({ id: "WebhookEventName" });
export type WebhookEventName = z.infer<typeof WebhookEventName>;

/** What starts workflows: also their own schedules and requests to them, which webhooks do not receive. */
export const WorkflowEventName = z
  .enum([...EventName.options, "workflow.scheduled", "workflow.triggered"])
  .meta({ id: "WorkflowEventName" });
export type WorkflowEventName = z.infer<typeof WorkflowEventName>;

/** The name of any event. */
export type AnyEventName = WebhookEventName | WorkflowEventName;
