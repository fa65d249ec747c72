/** The endpoints for what becomes of notifications that stay unread. */

import {
  NotificationDefaults,
  NotificationDefaultsUpdate,
  NotificationSettings,
  NotificationSettingsUpdate,
} from "@atrium/contract/resources/notification-settings.ts";
import { SentNotifications } from "@atrium/contract/resources/sent-notification.ts";
import { limitOf } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { type InboxContext, inboxOf, wholeOwnInbox } from "./commands.ts";
import { changeDefaults, changeSettings, getDefaults, getSettings, listSent } from "./settings.ts";

const { endpoint } = endpointsFor<InboxContext>({ module: "Inbox" });

const settings = { done: "Settings retrieved", data: z.object({ settings: NotificationSettings }) } as const;
const changed = { ...settings, done: "Settings changed", body: NotificationSettingsUpdate } as const;
const defaults = z.object({ defaults: NotificationDefaults });

const MERGED = "Absent fields stay as they are, and `null` removes the entry of a kind or a room.";

/** Of endpoints for what concerns an identity in all rooms. */
export const NOT_NARROWED = "`FORBIDDEN` for a token that names rooms or permissions.";

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/notification-defaults",
    operation: "getNotificationDefaults",
    sdk: "getNotificationDefaults(): defaults",
    summary: "Get the defaults for unread notifications",
    details: "The defaults say who sends notifications by which channel, and after what time.",
    done: "Defaults retrieved",
    data: defaults,
    handle: (ctx) => getDefaults(ctx),
  }),
  endpoint({
    method: "PATCH",
    path: "/notification-defaults",
    operation: "updateNotificationDefaults",
    isForAgents: false,
    sdk: "updateNotificationDefaults(changes): defaults",
    summary: "Change the defaults for unread notifications",
    details: `${MERGED} An item that waits already keeps its time.`,
    body: NotificationDefaultsUpdate,
    done: "Defaults changed",
    data: defaults,
    audit: { resource: "organization" },
    handle: (ctx, { body }) => changeDefaults(ctx, body),
  }),
  endpoint({
    ...settings,
    method: "GET",
    path: "/identities/:identityId/notification-settings",
    operation: "getNotificationSettings",
    sdk: "inbox(identityId).getSettings(): settings",
    summary: "Get the notification settings of an identity",
    details: "Without settings of its own, everything is sent that the organization's defaults allow.",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => getSettings(inboxOf(ctx, params.identityId)),
  }),
  endpoint({
    ...changed,
    method: "PATCH",
    path: "/identities/:identityId/notification-settings",
    operation: "updateNotificationSettings",
    isForAgents: false,
    sdk: "inbox(identityId).updateSettings(changes): settings",
    summary: "Change the notification settings of an identity",
    details: MERGED,
    errors: ["NOT_FOUND"],
    handle: (ctx, { params, body }) => changeSettings(inboxOf(ctx, params.identityId), body),
  }),
  endpoint({
    method: "GET",
    path: "/identities/:identityId/sent-notifications",
    operation: "listSentNotifications",
    sdk: "inbox(identityId).listSent(part?): sent",
    summary: "List what was sent to an identity",
    details:
      "The latest 200 times that a channel was to send notifications, newest first, and why some were not sent. Notifications that were read before their time are not among them, nor pushes without a browser.",
    errors: ["NOT_FOUND"],
    query: z.object({ limit: limitOf(50, 200) }),
    done: "Sent notifications retrieved",
    data: z.object({ sent: z.array(SentNotifications) }),
    handle: (ctx, { params, query }) => listSent(inboxOf(ctx, params.identityId), query.limit),
  }),
  endpoint({
    ...settings,
    right: "identity",
    method: "GET",
    path: "/me/notification-settings",
    operation: "getOwnNotificationSettings",
    isForAgents: false,
    summary: "Get one's own notification settings",
    details: `Without settings of one's own, everything is sent that the organization's defaults allow. ${NOT_NARROWED}`,
    handle: (ctx) => getSettings(wholeOwnInbox(ctx)),
  }),
  endpoint({
    ...changed,
    right: "identity",
    method: "PATCH",
    path: "/me/notification-settings",
    operation: "updateOwnNotificationSettings",
    isForAgents: false,
    summary: "Change one's own notification settings",
    details: `${MERGED} ${NOT_NARROWED}`,
    handle: (ctx, { body }) => changeSettings(wholeOwnInbox(ctx), body),
  }),
];
