/** The events of webhooks and workflows, with a short explanation of each. */
import type { EventName, WebhookEventName } from "atrium/server";

export const EVENTS: Readonly<Record<WebhookEventName, string>> = {
  "participant.joined": "A user came online",
  "participant.left": "A user went offline",
  "session.started": "The first user joined a room",
  "session.closed": "The last user left a room",
  "user.created": "A user was created",
  "user.updated": "A user was updated",
  "user.deleted": "A user was deleted",
  "comment.created": "A comment was written",
  "comment.updated": "A comment was changed",
  "comment.resolved": "A comment was resolved",
  "comment.deleted": "A comment was deleted",
  "thread.created": "A thread was started",
  "thread.resolved": "A thread was resolved",
  "thread.deleted": "A thread was deleted",
  "store.changed": "A store was changed",
  "document.created": "A document was created",
  "document.updated": "A document was changed",
  "document.deleted": "A document was deleted",
  "version.created": "A version was created",
  "file.uploaded": "A file was uploaded",
  "file.deleted": "A file was deleted",
  "room.created": "A room was created",
  "room.updated": "A room was updated or reopened",
  "room.closed": "A room was closed",
  "room.deleted": "A room was deleted",
  "access.changed": "The access to a room was changed",
  "identity.created": "An identity was created",
  "identity.updated": "An identity was changed",
  "identity.deleted": "An identity was deleted",
  "group.created": "A group was created",
  "group.updated": "A group or its members were changed",
  "group.deleted": "A group was deleted",
  notification: "Notifications have stayed unread",
  "webhook.backlogged": "Another webhook has a high backlog",
  "workflow.disabled": "The service disabled a workflow",
};

const isWebhookEventName = (name: string): name is WebhookEventName => Object.hasOwn(EVENTS, name);
/** Events that belong to a room. */
export const isEventName = (name: string): name is EventName =>
  isWebhookEventName(name) && !/^(identity|group|webhook|workflow)\.|^notification$/.test(name);
/** The events for webhooks. */
export const WEBHOOK_EVENT_NAMES = Object.keys(EVENTS).filter(isWebhookEventName);
/** The events for workflows. */
export const EVENT_NAMES = WEBHOOK_EVENT_NAMES.filter(isEventName);
