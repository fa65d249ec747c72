/** The browsers to which the notifications of an identity are pushed. */

import { AppError } from "@atrium/contract/errors.ts";
import {
  type PushSubscriptionInput,
  type PushSubscriptions,
  presentSubscription,
} from "@atrium/contract/resources/push-subscription.ts";
import { base64url } from "jose";
import { tokenEnded } from "../../platform/token-claims.ts";
import { noIdentity } from "../identities/queries.ts";
import type { InboxContext, OpenInbox, wholeOwnInbox } from "./commands.ts";

export interface PushContext extends InboxContext {
  /** The key with which browsers subscribe, as Base64url; null when nothing is pushed. */
  findPushKey(): Promise<string | null>;
  /** Why a browser cannot be reached at its endpoint; null if it can. */
  findPushProblem(target: { readonly endpoint: string; readonly origin: string }): string | null;
}

const refused = (why: string) => new AppError("Inbox", "VALIDATION_ERROR", why);

/** NOT_FOUND without the identity. */
export async function listPushSubscriptions(
  ctx: PushContext,
  { inbox, caller }: OpenInbox,
): Promise<PushSubscriptions> {
  const publicKey = await ctx.findPushKey();
  const targets = await inbox.listPushTargets(caller.identityId, publicKey);
  if (targets === null) throw noIdentity();
  return { public_key: publicKey, subscriptions: targets.map(presentSubscription) };
}

/**
 * Pushes to a browser from now on. NOT_FOUND without the identity, VALIDATION_ERROR for keys that are none and for an
 * endpoint that is not public, BAD_REQUEST when this deployment pushes nothing. The subscription holds as long as the
 * token's epochs: UNAUTHORIZED when they have ended meanwhile.
 */
export async function subscribeToPush(
  ctx: PushContext,
  { inbox, caller, epochs }: ReturnType<typeof wholeOwnInbox>,
  { endpoint, expirationTime = null, keys }: PushSubscriptionInput,
): Promise<Record<string, never>> {
  const publicKey = await ctx.findPushKey();
  if (publicKey === null)
    throw new AppError("Inbox", "BAD_REQUEST", "This deployment pushes nothing: it has no VAPID_PRIVATE_KEY");
  const { origin } = ctx;
  const problem = ctx.findPushProblem({ endpoint, origin });
  if (problem !== null) throw refused(`endpoint: ${problem}`);
  if (!(await isPublicKey(keys.p256dh))) throw refused("keys.p256dh: must be a public key on P-256");
  const expiresAt = expirationTime && Math.floor(expirationTime);
  const target = { endpoint, ...keys, origin, expiresAt };
  if (!(await inbox.addPushTarget(caller.identityId, target, publicKey, epochs))) throw tokenEnded();
  return {};
}

async function isPublicKey(key: string): Promise<boolean> {
  try {
    const point = new Uint8Array(base64url.decode(key));
    await crypto.subtle.importKey("raw", point, { name: "ECDH", namedCurve: "P-256" }, false, []);
    return true;
  } catch {
    return false;
  }
}

/** Without such a subscription it changes nothing. NOT_FOUND without the identity. */
export async function unsubscribeFromPush(
  { inbox, caller }: OpenInbox,
  endpoint: string,
): Promise<Record<string, never>> {
  if (!(await inbox.removePushTarget(caller.identityId, endpoint))) throw noIdentity();
  return {};
}
