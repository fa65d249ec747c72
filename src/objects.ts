/** The Durable Object classes that need features: each is an engine's object with its ports filled. */

import { openEventLogs } from "./delivery/event-log/shards.ts";
import type { SubscriberPorts } from "./delivery/subscriber/handler.ts";
import { SubscriberObjectBase } from "./delivery/subscriber/subscriber-object.ts";
import type { Env } from "./env.ts";
import { emailSender } from "./features/inbox/channels/email.ts";
import { pushSender } from "./features/inbox/channels/push.ts";
import { webhookSender } from "./features/inbox/channels/webhook.ts";
import { readInboxAccess, readRecipient } from "./features/inbox/recipients/access.ts";
import { InboxObjectBase } from "./features/inbox/shard/inbox-object.ts";
import { reportBacklogSize } from "./features/quotas/queries.ts";
import { isTokenCurrent } from "./features/users/bearers.ts";
import { tokensFor } from "./features/users/tokens.ts";
import { attempt } from "./features/webhooks/attempt.ts";
import { WebhookHandler } from "./features/webhooks/webhook-handler.ts";
import { WorkflowHandler } from "./features/workflows/workflow-handler.ts";
import { backlogLimits, jwtSecrets, quotaDefaults } from "./platform/config.ts";
import { openTenant } from "./platform/d1/databases.ts";
import { lazily } from "./platform/lazily.ts";
import { targetFetch } from "./platform/network.ts";
import { RoomObjectBase } from "./room/host/room-object.ts";

const loadRoomService = lazily(() => import("./features/room-content/room-service.ts"));

/** The object of a room. */
export class RoomObject extends RoomObjectBase {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, async () => {
      const { roomService } = await loadRoomService();
      return () => roomService(env);
    });
  }
}

export const subscriberPorts = (env: Env): SubscriberPorts => ({
  createHandler: (key, now, state) =>
    key.kind === "webhook"
      ? new WebhookHandler(env, key, now, state)
      : new WorkflowHandler(env, key, now, state),
  send: (destination, message, now) =>
    attempt(destination, message, { fetch: targetFetch(env.PUBLIC_NETWORK, destination.devTargets), now }),
  limits: backlogLimits(env),
  readLog: (accountId, shard, query) => openEventLogs(env)(accountId, shard).read(query),
  reportBacklogSize: ({ accountId, id }, waiting) =>
    reportBacklogSize(openTenant(env, accountId), id, waiting, quotaDefaults(env)),
});

/** The object of a webhook or workflow. */
export class SubscriberObject extends SubscriberObjectBase {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, subscriberPorts(env));
  }
}

/** The object of a shard of inboxes. */
export class InboxObject extends InboxObjectBase {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, {
      readAccess: ({ accountId, identityId }, roomIds) =>
        readInboxAccess(openTenant(env, accountId), identityId, roomIds),
      readRecipient: ({ accountId, identityId }, roomIds) =>
        readRecipient(openTenant(env, accountId), identityId, roomIds),
      senders: (key, inbox) => ({
        email: emailSender(env, key, inbox),
        webPush: pushSender(env, key, inbox),
        webhook: webhookSender(env, key, inbox, (work) => ctx.waitUntil(work)),
      }),
      verifyToken: (token, now) => tokensFor(jwtSecrets(env)).verifyIdentity(token, now),
      isTokenCurrent: (claims) => isTokenCurrent(openTenant(env, claims.accountId), claims),
    });
  }
}
