/** The objects of inboxes, one for each identity: made when the first activity is delivered. */
import type { Env } from "../env.ts";
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
  /** Closes the sockets, because the tokens of the identity were ended. */
  closeSockets(): void;
  /** Removes everything, because the identity was deleted. */
  remove(): Promise<void>;
}

export type Inboxes<Inbox = InboxDelivery> = (accountId: string, identityId: string) => Stub<Inbox>;

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
