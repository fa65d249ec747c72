/** The objects of inboxes, one for each identity: made when the first activity is delivered. */
import type { Env } from "../env.ts";
import type { RequestContext } from "../platform/d1/context.ts";
import { forEachConcurrently } from "../platform/flow/concurrency.ts";
import { clientOf } from "../platform/network.ts";
import { openStub, type Stub } from "../platform/objects/rpc.ts";
import type { InboxActivity, InboxPosition, InboxRemoval } from "../wire/inbox.ts";
import type { NotificationDefaults } from "../wire/notification-settings.ts";

/** The calls of those who deliver. The object of the inbox feature has them. */
export interface InboxDelivery {
  /**
   * Idempotent by the IDs of activities, in any order. An inbox whose identity was deleted takes nothing. A caller that has
   * just read the identity brings the organization's defaults, which it read with it: an inbox that it makes while the
   * identity is deleted lasts for two days, and is never shown.
   */
  deliver(activities: readonly InboxActivity[], defaults?: NotificationDefaults): Promise<void>;
  /** A position, which also holds for activities that arrive later; it never goes back. */
  markRead(position: InboxPosition): Promise<void>;
  /** A thread or a room was deleted: activities of it that arrive later have no effect. */
  removeItems(removal: InboxRemoval): Promise<void>;
  /** Tells the sockets how many are unread now, because the identity's access to rooms has changed. */
  recount(): void;
  /** Closes the sockets, because the tokens of the identity were ended. */
  closeSockets(): void;
  /** Removes everything, because the identity was deleted. */
  remove(): Promise<void>;
}

export type Inboxes<Inbox = InboxDelivery> = (accountId: string, identityId: string) => Stub<Inbox>;

/** The inboxes that learn of a change of access at once; those of further identities count anew with their next frame. */
export const RECOUNTED = 200;
const AT_ONCE = 8;

/** Recounts the inboxes of identities behind the response. A failure leaves it to their next frame. */
export function recountInboxes(
  ctx: { readonly accountId: string; readonly inboxes: Inboxes } & Pick<RequestContext, "defer" | "log">,
  identityIds: readonly string[],
): void {
  const recounting = forEachConcurrently(AT_ONCE, identityIds, (id) =>
    ctx
      .inboxes(ctx.accountId, id)
      .recount()
      .catch((error: unknown) => ctx.log("An inbox could not be recounted", error)),
  );
  ctx.defer(recounting);
}

/** Both IDs are UUIDs. */
export const inboxName = (accountId: string, identityId: string): string => `${accountId}:${identityId}`;

/** The address of the client, in an upgrade that the Worker forwards. */
export const ADDRESS_HEADER = "X-Inbox-Address";

/** Upgrades a request to a WebSocket that has yet to join. */
export const connectInbox =
  (env: Pick<Env, "INBOXES">) =>
  (accountId: string, identityId: string, request: Request): Promise<Response> =>
    env.INBOXES.getByName(inboxName(accountId, identityId)).fetch("https://inbox/socket", {
      headers: { Upgrade: request.headers.get("Upgrade") ?? "", [ADDRESS_HEADER]: clientOf(request) },
    });

/** Opens the inbox of an identity. Callers have checked that the identity is the organization's. */
export const openInbox =
  <Inbox = InboxDelivery>(env: Pick<Env, "INBOXES">): Inboxes<Inbox> =>
  (accountId, identityId) =>
    openStub(env.INBOXES, inboxName(accountId, identityId));
