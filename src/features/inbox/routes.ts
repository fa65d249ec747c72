/** The endpoints for the inboxes of identities: the same ones for the organization, and for the identity itself. */

import { AppError } from "@atrium/contract/errors.ts";
import { InboxNotification, InboxRead, InboxTrigger } from "@atrium/contract/rest/inbox.ts";
import { cursorShape } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { isUpgrade, refusedSocket } from "../../http/upgrades.ts";
import { CLOSE } from "../../room/protocol/protocol.ts";
import {
  connectTo,
  countNotifications,
  deleteNotification,
  deleteNotifications,
  type InboxContext,
  inboxOf,
  listNotifications,
  markNotifications,
  ownInbox,
  ownInboxToChange,
  triggerNotification,
} from "./commands.ts";
import { InboxQuery } from "./list-query.ts";

const { endpoint, rawEndpoint } = endpointsFor<InboxContext>({ module: "Inbox" });

/** Pages cannot read why an upgrade fails: with `?refusal=close` the socket opens, and is closed at once. */
async function openSocket(ctx: InboxContext, request: Request): Promise<Response> {
  try {
    return await connectTo(ctx, request);
  } catch (error) {
    const isReadable = isUpgrade(request) && new URL(request.url).searchParams.get("refusal") === "close";
    if (!isReadable || !(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    return refusedSocket(CLOSE.roomDeleted, error.message);
  }
}

const NOW = "those of rooms that the identity may enter now, and those without a room";

const list = {
  query: InboxQuery,
  done: "Notifications retrieved",
  data: z.object({ notifications: z.array(InboxNotification), ...cursorShape }),
} as const;

const unread = z.object({
  unread: z.int().meta({ description: "How many notifications are unread.", minimum: 0, example: 3 }),
});

const read = { body: InboxRead, done: "Notifications marked as read", data: unread } as const;
const removed = { done: "Notification deleted", data: z.object({}) } as const;
const removedAll = { done: "Notifications deleted", data: z.object({}) } as const;
const counted = { done: "Notifications counted", data: unread } as const;

const PATH = "/identities/:identityId/inbox-notifications";
const OWN_PATH = "/me/inbox-notifications";
const NOT_BY_READERS = "`FORBIDDEN` for a token that may write nothing.";
const LATER = "A later activity of the same subject shows it again.";

const ofIdentities = [
  endpoint({
    ...list,
    method: "GET",
    path: PATH,
    operation: "listInboxNotifications",
    sdk: "inbox(identityId).list(filter?: InboxSearch): data",
    summary: "List the notifications of an identity",
    details: `Newest first: ${NOW}.`,
    errors: ["NOT_FOUND"],
    handle: (ctx, { params, query }) => listNotifications(inboxOf(ctx, params.identityId), query),
  }),
  endpoint({
    ...counted,
    method: "GET",
    path: `${PATH}/count`,
    operation: "countInboxNotifications",
    sdk: "inbox(identityId).count(): unread",
    summary: "Count the unread notifications of an identity",
    details: `Counted are ${NOW}.`,
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => countNotifications(inboxOf(ctx, params.identityId)),
  }),
  endpoint({
    ...read,
    method: "POST",
    path: `${PATH}/read`,
    operation: "markInboxNotificationsAsRead",
    isForAgents: false,
    sdk: "inbox(identityId).markRead(notificationId?, upTo?): unread",
    summary: "Mark notifications of an identity as read",
    details: "Notifications that arrive meanwhile stay unread.",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params, body }) => markNotifications(inboxOf(ctx, params.identityId), body),
  }),
  endpoint({
    ...removed,
    method: "DELETE",
    path: `${PATH}/:notificationId`,
    operation: "deleteInboxNotification",
    isForAgents: false,
    sdk: "inbox(identityId).delete(notificationId)",
    summary: "Delete a notification of an identity",
    details: LATER,
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => deleteNotification(inboxOf(ctx, params.identityId), params.notificationId),
  }),
  endpoint({
    ...removedAll,
    method: "DELETE",
    path: PATH,
    operation: "deleteInboxNotifications",
    isForAgents: false,
    sdk: "inbox(identityId).delete()",
    summary: "Delete all notifications of an identity",
    details: "Also those of rooms that it may not enter now.",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => deleteNotifications(inboxOf(ctx, params.identityId)),
  }),
];

const own = { right: "identity" } as const;

const ofCaller = [
  endpoint({
    ...own,
    ...list,
    method: "GET",
    path: OWN_PATH,
    operation: "listOwnInboxNotifications",
    summary: "List one's own notifications",
    details: "Newest first. A token for certain rooms shows the notifications of those rooms alone.",
    handle: (ctx, { query }) => listNotifications(ownInbox(ctx), query),
  }),
  endpoint({
    ...own,
    ...counted,
    method: "GET",
    path: `${OWN_PATH}/count`,
    operation: "countOwnInboxNotifications",
    summary: "Count one's own unread notifications",
    details: "With a token for certain rooms, the notifications of those rooms alone.",
    handle: (ctx) => countNotifications(ownInbox(ctx)),
  }),
  endpoint({
    ...own,
    ...read,
    method: "POST",
    path: `${OWN_PATH}/read`,
    operation: "markOwnInboxNotificationsAsRead",
    summary: "Mark one's own notifications as read",
    details:
      "Notifications that arrive meanwhile stay unread. With a token for certain rooms, the notifications of those rooms alone.",
    errors: ["NOT_FOUND"],
    handle: (ctx, { body }) => markNotifications(ownInbox(ctx), body),
  }),
  endpoint({
    ...own,
    ...removed,
    method: "DELETE",
    path: `${OWN_PATH}/:notificationId`,
    operation: "deleteOwnInboxNotification",
    isForAgents: false,
    summary: "Delete one's own notification",
    details: `${LATER} ${NOT_BY_READERS}`,
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => deleteNotification(ownInboxToChange(ctx), params.notificationId),
  }),
  endpoint({
    ...own,
    ...removedAll,
    method: "DELETE",
    path: OWN_PATH,
    operation: "deleteOwnInboxNotifications",
    isForAgents: false,
    summary: "Delete all of one's own notifications",
    details: `With a token for certain rooms, the notifications of those rooms alone. ${NOT_BY_READERS}`,
    handle: (ctx) => deleteNotifications(ownInboxToChange(ctx)),
  }),
];

export const endpoints = [
  ...ofIdentities,
  ...ofCaller,
  endpoint({
    method: "POST",
    path: "/inbox-notifications/trigger",
    operation: "triggerInboxNotification",
    isForAgents: false,
    sdk: "triggerInboxNotification(notification): delivered",
    summary: "Notify an identity",
    details:
      "Adds an activity of a kind of your own to the identity's inbox. Its notification is unread from then on, and shown at once over an open socket.",
    errors: ["NOT_FOUND"],
    body: InboxTrigger,
    done: "Notification triggered",
    data: z.object({
      delivered: z.boolean().meta({ description: "`false` when the identity may not enter the room." }),
    }),
    handle: (ctx, { body }) => triggerNotification(ctx, body),
  }),
  rawEndpoint({
    method: "GET",
    path: "/inbox/socket",
    operation: "openInboxSocket",
    insteadOfSdk: "A page opens it as a `WebSocket`, and joins with its identity's token.",
    right: "public",
    summary: "Open the WebSocket of an inbox",
    details:
      "The query parameter `identity` is the identity's ID. The upgrade carries no credential: the client's first message, `INBOX_JOIN`, has the identity's token. The repository's `docs/protocol.md` describes the messages, events and close codes.",
    answers: { 101: "The socket is open; `INBOX_JOIN` is expected within 10 seconds." },
    errors: ["NOT_FOUND"],
    respond: (ctx, _, request) => openSocket(ctx, request),
  }),
];
