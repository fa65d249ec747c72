/** Pushes notifications to the browsers of an identity (RFC 8030), encrypted for each of them (RFC 8291). */

import { combined } from "@atrium/contract/errors.ts";
import type { PushMessage } from "@atrium/contract/resources/push-subscription.ts";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { byteLength, cut } from "@atrium/contract/text.ts";
import type { Env } from "../../../env.ts";
import { ownHosts, pushSettings } from "../../../platform/config.ts";
import { lazily } from "../../../platform/lazily.ts";
import { findTargetProblem, targetFetch } from "../../../platform/network.ts";
import { readSetting } from "../../../platform/settings.ts";
import { reportFailure } from "../../../platform/telemetry/telemetry.ts";
import { roomGateway } from "../../../room/host/gateway.ts";
import type { PushTarget } from "../shard/push-store.ts";
import type { InboxKey, Sender, SentInbox } from "../shard/sender.ts";
import { addressOf, readTexts, unreadCount } from "./texts.ts";
import { vapidHeader, vapidKey } from "./vapid.ts";

/** More notifications at once are one message with their number. */
const MAX_MESSAGES = 3;
const MAX_TEXT_BYTES = 1_000;
/** RFC 8291 leaves so much of the 4,096 that each push service takes. */
const MAX_BYTES = 3_993;
/** For how long a push service keeps a message for a browser that is offline. */
const TTL_SECONDS = 24 * 60 * 60;
const TIMEOUT_MS = 15_000;
/** Stands for the ID where a message is about several notifications. */
const SEVERAL = "unread";

type Result = "reached" | "gone" | "later" | "refused";

/** The meaning of a push service's answer (RFC 8030). */
function resultOf(status: number): Result {
  if (status >= 200 && status < 300) return "reached";
  if (status === 404 || status === 410) return "gone";
  return status === 429 || status >= 500 ? "later" : "refused";
}

export function pushSender(env: Env, { accountId, identityId }: InboxKey, inbox: SentInbox): Sender {
  const settings = pushSettings(env);
  const { pushTargets, now } = inbox;
  return {
    refusal: () => (settings === null ? "unavailable" : pushTargets.exist ? null : "no_address"),

    needed: async (items) => {
      const rooms = [...new Set(items.map(({ roomId }) => roomId))].filter((id) => id !== "");
      const online = await Promise.all(rooms.map((roomId) => isOnline(env, accountId, roomId, identityId)));
      return items.filter(({ roomId }) => online[rooms.indexOf(roomId)] !== true);
    },

    send: async ({ items, done, note }, { epochs, defaults }) => {
      if (settings === null || epochs === null) return "unavailable";
      const key = await vapidKey(settings.privateKey);
      const targets = pushTargets.list({ publicKey: key.publicKey, epochs }, now());
      const messages = await messagesOf(
        env,
        { accountId, identityId },
        inbox.notifications(items),
        defaults.link,
      );
      const failures: unknown[] = [];
      const push = async (target: PushTarget): Promise<Result> => {
        if (findPushProblem(env, target) !== null) return "gone";
        const { endpoint, origin } = target;
        const contact = settings.contact ?? origin;
        const authorization = await vapidHeader(key, { endpoint, contact, now: now() });
        for (const message of messages) {
          const result = await post(env, target, authorization, message, failures);
          if (result !== "reached") return result;
        }
        return "reached";
      };
      const missing = targets.filter(({ endpoint }) => !done.includes(endpoint));
      const results = await Promise.all(missing.map(push));
      const which = (result: Result) =>
        missing.filter((_, index) => results[index] === result).map(({ endpoint }) => endpoint);
      for (const endpoint of which("gone")) pushTargets.remove(endpoint);
      const isReached = done.length > 0 || results.includes("reached");
      if (results.includes("later")) {
        note([...done, ...which("reached")]);
        const why = failures.length === 0 ? "" : `: ${combined(failures)}`;
        throw new Error(`A push service did not answer, or asks to wait${why}`);
      }
      if (isReached) return "sent";
      return results.includes("refused") ? "failed" : "no_address";
    },
  };
}

/** The key with which browsers subscribe; null when this deployment pushes nothing. */
export async function findPushKey(env: Env): Promise<string | null> {
  const settings = pushSettings(env);
  return settings && (await vapidKey(settings.privateKey)).publicKey;
}

/** Why a browser's endpoint is not called; null if it is. */
export const findPushProblem = (env: Env, { endpoint, origin }: Pick<PushTarget, "endpoint" | "origin">) =>
  findTargetProblem(endpoint, {
    devTargets: readSetting(env, "WEBHOOK_DEV_TARGETS"),
    ownHosts: [...ownHosts(env), new URL(origin).host],
  });

async function isOnline(env: Env, accountId: string, roomId: string, identityId: string): Promise<boolean> {
  return (await roomGateway(env).call(roomId, accountId, "IDENTITY_ONLINE", { identityId })).online;
}

async function messagesOf(
  env: Env,
  reader: InboxKey,
  notifications: readonly InboxNotification[],
  link: string | null,
): Promise<PushMessage[]> {
  const { length } = notifications;
  const { organization, texts } = await readTexts(env, reader, length > MAX_MESSAGES ? [] : notifications);
  if (texts.length < length)
    return [{ id: SEVERAL, title: organization, body: unreadCount(length), url: null }];
  return texts.map((notification) => ({
    id: notification.id,
    title: notification.roomName ?? organization,
    body: cut(notification.lines.join("\n"), MAX_TEXT_BYTES, byteLength),
    url: addressOf(link, notification),
  }));
}

/** As JSON. An address that does not fit is left out. */
function textOf(message: PushMessage): string {
  const text = JSON.stringify({ atrium: message });
  return byteLength(text) <= MAX_BYTES ? text : JSON.stringify({ atrium: { ...message, url: null } });
}

const encryption = lazily(() => import("@block65/webcrypto-web-push"));

async function post(
  env: Env,
  { endpoint, p256dh, auth }: PushTarget,
  authorization: string,
  message: PushMessage,
  failures: unknown[],
): Promise<Result> {
  const subscription = { endpoint, expirationTime: null, keys: { p256dh, auth } };
  const { encryptNotification } = await encryption();
  const body = await encryptNotification(subscription, new TextEncoder().encode(textOf(message)));
  const send = targetFetch(env.PUBLIC_NETWORK, readSetting(env, "WEBHOOK_DEV_TARGETS"));
  const response = await send(endpoint, {
    method: "POST",
    headers: {
      Authorization: authorization,
      "Content-Type": "application/octet-stream",
      "Content-Encoding": "aes128gcm",
      TTL: `${TTL_SECONDS}`,
      Urgency: "normal",
      // A message that waits at the push service gives way to a later one about the same notification.
      Topic: message.id.replaceAll("-", ""),
    },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => void failures.push(error));
  if (response === undefined) return "later";
  await response.body?.cancel().catch(() => {});
  const result = resultOf(response.status);
  if (result === "refused")
    reportFailure("delivery", `A push service refused a message with ${response.status}`, {}, null);
  return result;
}
