/** The endpoints for browsers to which notifications are pushed. */

import {
  PushSubscriptionEnd,
  PushSubscriptionInput,
  PushSubscriptions,
} from "@atrium/contract/resources/push-subscription.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { inboxOf, wholeOwnInbox } from "./commands.ts";
import {
  listPushSubscriptions,
  type PushContext,
  subscribeToPush,
  unsubscribeFromPush,
} from "./push-commands.ts";
import { NOT_NARROWED } from "./routes-settings.ts";

const { endpoint } = endpointsFor<PushContext>({ module: "Inbox" });

const subscriptions = {
  details: "Subscriptions that hold now: each ends with the tokens of the identity, and with the key.",
  done: "Push subscriptions retrieved",
  data: PushSubscriptions,
} as const;

const unsubscribed = {
  details: "Stops push notifications to this browser. Without such a subscription it changes nothing.",
  body: PushSubscriptionEnd,
  done: "Push subscription removed",
  data: z.object({}),
} as const;

export const endpoints = [
  endpoint({
    ...subscriptions,
    method: "GET",
    path: "/identities/:identityId/push-subscriptions",
    operation: "listPushSubscriptions",
    isForAgents: false,
    sdk: "inbox(identityId).listPushSubscriptions(): data",
    summary: "List the browsers that an identity has subscribed",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => listPushSubscriptions(ctx, inboxOf(ctx, params.identityId)),
  }),
  endpoint({
    ...unsubscribed,
    method: "DELETE",
    path: "/identities/:identityId/push-subscriptions",
    operation: "deletePushSubscription",
    isForAgents: false,
    sdk: "inbox(identityId).deletePushSubscription(endpoint)",
    summary: "Unsubscribe a browser of an identity",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params, body }) => unsubscribeFromPush(inboxOf(ctx, params.identityId), body.endpoint),
  }),
  endpoint({
    ...subscriptions,
    right: "identity",
    method: "GET",
    path: "/me/push-subscriptions",
    operation: "listOwnPushSubscriptions",
    isForAgents: false,
    summary: "List one's own subscribed browsers",
    details: `${subscriptions.details} ${NOT_NARROWED}`,
    errors: ["FORBIDDEN"],
    handle: (ctx) => listPushSubscriptions(ctx, wholeOwnInbox(ctx)),
  }),
  endpoint({
    right: "identity",
    method: "POST",
    path: "/me/push-subscriptions",
    operation: "subscribeToPush",
    isForAgents: false,
    summary: "Subscribe a browser",
    details: `What stays unread is pushed there, until the tokens of the identity are ended. The body is the browser's \`PushSubscription.toJSON()\`. An identity has 20 browsers, of which the oldest gives way. Nothing is pushed to guests: \`FORBIDDEN\`. ${NOT_NARROWED}`,
    body: PushSubscriptionInput,
    done: "Subscribed",
    data: z.object({}),
    errors: ["FORBIDDEN"],
    handle: (ctx, { body }) => subscribeToPush(ctx, wholeOwnInbox(ctx), body),
  }),
  endpoint({
    ...unsubscribed,
    right: "identity",
    method: "DELETE",
    path: "/me/push-subscriptions",
    operation: "unsubscribeFromPush",
    isForAgents: false,
    summary: "Unsubscribe a browser of one's own",
    details: `${unsubscribed.details} ${NOT_NARROWED}`,
    handle: (ctx, { body }) => unsubscribeFromPush(wholeOwnInbox(ctx), body.endpoint),
  }),
];
