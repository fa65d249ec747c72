/** The endpoints for browsers to which notifications are pushed. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import {
  PushSubscriptionEnd,
  PushSubscriptionInput,
  PushSubscriptions,
} from "../../wire/push-subscription.ts";
import { inboxOf, wholeOwnInbox } from "../inbox/commands.ts";
import { NOT_NARROWED } from "../inbox/routes-settings.ts";
import { listPushSubscriptions, type PushContext, subscribeToPush, unsubscribeFromPush } from "./commands.ts";

const { endpoint } = endpointsFor<PushContext>({ module: "Inbox" });

const subscriptions = {
  details: "Those that hold now: each ends with the tokens of the identity, and with the key.",
  done: "Push subscriptions retrieved",
  data: PushSubscriptions,
} as const;

const unsubscribed = {
  details: "Its notifications are pushed there no more. Without such a subscription it changes nothing.",
  body: PushSubscriptionEnd,
  done: "Push subscription removed",
  data: z.object({}),
} as const;

export const pushEndpoints = [
  endpoint({
    ...subscriptions,
    method: "GET",
    path: "/identities/:identityId/push-subscriptions",
    operation: "listPushSubscriptions",
    summary: "List the browsers that an identity has subscribed",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params }) => listPushSubscriptions(ctx, inboxOf(ctx, params.identityId)),
  }),
  endpoint({
    ...unsubscribed,
    method: "DELETE",
    path: "/identities/:identityId/push-subscriptions",
    operation: "deletePushSubscription",
    summary: "Unsubscribe a browser of an identity",
    errors: ["NOT_FOUND"],
    handle: (ctx, { params, body }) => unsubscribeFromPush(inboxOf(ctx, params.identityId), body.endpoint),
  }),
  endpoint({
    ...subscriptions,
    access: "identity",
    method: "GET",
    path: "/me/push-subscriptions",
    operation: "listOwnPushSubscriptions",
    summary: "List one's own subscribed browsers",
    details: `${subscriptions.details} ${NOT_NARROWED}`,
    errors: ["FORBIDDEN"],
    handle: (ctx) => listPushSubscriptions(ctx, wholeOwnInbox(ctx)),
  }),
  endpoint({
    access: "identity",
    method: "POST",
    path: "/me/push-subscriptions",
    operation: "subscribeToPush",
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
    access: "identity",
    method: "DELETE",
    path: "/me/push-subscriptions",
    operation: "unsubscribeFromPush",
    summary: "Unsubscribe a browser of one's own",
    details: `${unsubscribed.details} ${NOT_NARROWED}`,
    handle: (ctx, { body }) => unsubscribeFromPush(wholeOwnInbox(ctx), body.endpoint),
  }),
];
