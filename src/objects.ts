/** The Durable Object classes that need features: each is an engine's object with its ports filled. */

import { openEventLogs } from "./delivery/event-log/shards.ts";
import type { SubscriberPorts } from "./delivery/subscriber/handler.ts";
import { SubscriberObject as SubscriberQueue } from "./delivery/subscriber/subscriber-object.ts";
import { boardCommentBytes, storeUseOf } from "./demo/boards.ts";
import type { Env } from "./env.ts";
import { readInboxAccess, readRecipient } from "./features/inbox/access.ts";
import { InboxObject as Inbox } from "./features/inbox/inbox-object.ts";
import { sendersFor } from "./features/inbox/senders.ts";
import { forgetRecipients } from "./features/mail/statements.ts";
import { reportBacklogSize } from "./features/quotas/queries.ts";
import { roomService } from "./features/room-content/room-service.ts";
import { isTokenCurrent } from "./features/users/queries.ts";
import { tokensFor } from "./features/users/tokens.ts";
import { pushSender } from "./features/web-push/sender.ts";
import { attempt } from "./features/webhooks/attempt.ts";
import { WebhookHandler } from "./features/webhooks/webhook-handler.ts";
import { WorkflowHandler } from "./features/workflows/workflow-handler.ts";
import { backlogLimits, jwtSecrets, quotaDefaults } from "./platform/config.ts";
import { openDirectory, openTenant } from "./platform/d1/databases.ts";
import { targetFetch } from "./platform/network.ts";
import { RoomObject as LiveRoom } from "./room/host/room-object.ts";

/** The object of a room. */
export class RoomObject extends LiveRoom {
  constructor(ctx: DurableObjectState, env: Env) {
    const ports = roomService(env, (room, use) => ({
      storeUse: storeUseOf(env, room, use),
      maxCommentBytes: boardCommentBytes(env, room),
    }));
    super(ctx, env, ports);
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
export class SubscriberObject extends SubscriberQueue {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, subscriberPorts(env));
  }
}

/** The object of a shard of inboxes. */
export class InboxObject extends Inbox {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, {
      readAccess: ({ accountId, identityId }, roomIds) =>
        readInboxAccess(openTenant(env, accountId), identityId, roomIds),
      readRecipient: ({ accountId, identityId }, roomIds) =>
        readRecipient(openTenant(env, accountId), identityId, roomIds),
      senders: (key, inbox) => ({
        ...sendersFor(env, (work) => ctx.waitUntil(work))(key, inbox.now),
        webPush: pushSender(env, key, inbox),
      }),
      forgetMails: async (sendingIds) => {
        await openDirectory(env).run([forgetRecipients(sendingIds)]);
      },
      verifyToken: (token, now) => tokensFor(jwtSecrets(env)).verifyIdentity(token, now),
      isTokenCurrent: (claims) => isTokenCurrent(openTenant(env, claims.accountId), claims),
    });
  }
}
