/** The inboxes of an organization's identities, in shards: objects that each have those of some identities. */

import { combined } from "@atrium/contract/errors.ts";
import {
  type InboxActivity,
  type InboxPosition,
  type InboxRemoval,
  inboxShardOf,
} from "@atrium/contract/resources/inbox.ts";
import type { NotificationDefaults } from "@atrium/contract/resources/notification-settings.ts";
import type { Env } from "../env.ts";
import type { RequestContext } from "../platform/d1/context.ts";
import { forEachConcurrently } from "../platform/flow/concurrency.ts";
import { clientOf } from "../platform/network.ts";
import { openObject, openStub, type Stub } from "../platform/objects/rpc.ts";
import type { Settings } from "../platform/settings.ts";
import { selectInboxShards } from "./inbox-store.ts";

/**
 * The calls that a shard of inboxes accepts. Callers have checked that the identities exist. The object of the inbox
 * feature has them. An inbox whose identity was deleted takes nothing.
 */
export interface InboxDelivery {
  /** Idempotent by the IDs of activities, in any order. */
  deliver(
    identityIds: readonly string[],
    activities: readonly InboxActivity[],
    defaults: NotificationDefaults,
  ): void;
  /** Tells the sockets of agents that comments mention them. The frames say nothing else: agents list what they may read. */
  mention(identityIds: readonly string[]): void;
  /** A position, which also holds for activities that arrive later; it never goes back. */
  markRead(identityIds: readonly string[], position: InboxPosition): void;
  /** A subject was deleted, as far as it concerns them: activities of it that arrive later have no effect. */
  removeItems(identityIds: readonly string[], removal: InboxRemoval): void;
  /** The same for all inboxes of the shard. */
  removeFromAll(removal: InboxRemoval): void;
  /**
   * Tells sockets how many are unread now, because access to rooms has changed: with null, of all identities. A change in
   * one room concerns those who have items of it.
   */
  recount(identityIds: readonly string[] | null, roomId?: string): void;
  /** Closes sockets, because the tokens of these identities, or with null of all, were ended. */
  closeSockets(identityIds: readonly string[] | null): void;
  /** Removes everything, because the identities were deleted. Rejects while the shard is being restored. */
  remove(identityIds: readonly string[]): void;
  /** Removes everything of all, also what an unfinished restore has left, because the organization was deleted. */
  removeAll(): Promise<void>;
}

/** Opens the shard with the inbox of an identity; a shard's own digits open it as well. */
export type Inboxes<Inbox = InboxDelivery> = (accountId: string, identityId: string) => Stub<Inbox>;

export const shardName = (accountId: string, identityId: string): string =>
  `${accountId}:${inboxShardOf(identityId)}`;

const AT_ONCE = 8;

/** Calls the shards of identities, some at once, also when calls fail. Rejects with all failures. */
export async function callShards<Inbox>(
  inboxes: Inboxes<Inbox>,
  accountId: string,
  identityIds: readonly string[],
  call: (shard: Stub<Inbox>, identityIds: readonly string[]) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const shards = Map.groupBy(identityIds, inboxShardOf);
  await forEachConcurrently(AT_ONCE, shards, async ([shard, ids]) => {
    await call(inboxes(accountId, shard), ids).catch((error: unknown) => void failures.push(error));
  });
  if (failures.length > 0) throw combined(failures);
}

type Notice = { readonly inboxes: Inboxes } & Pick<RequestContext, "accountId" | "defer" | "log">;

/** Above this number of identities whose access changes, the whole organization is counted anew. */
export const RECOUNTED = 1_000;

/** Recounts the inboxes of identities behind the response, or with null all; of a change in one room, those that have items of it. */
export function recountInboxes(
  notice: Notice & Pick<RequestContext, "db">,
  identityIds: readonly string[] | null,
  roomId?: string,
): void {
  const { accountId, db, inboxes, defer, log } = notice;
  const recount = async () => {
    if (identityIds !== null && identityIds.length <= RECOUNTED)
      return callShards(inboxes, accountId, identityIds, (shard, ids) => shard.recount(ids, roomId));
    const [found] = await db.run([selectInboxShards(notice)]);
    const shards = found.map(({ shard }) => shard);
    await callShards(inboxes, accountId, shards, (shard) => shard.recount(null, roomId));
  };
  // After a failure, sockets have the right count with their next frame.
  defer(recount().catch((error: unknown) => log("Inboxes could not be recounted", error)));
}

/** Closes the sockets of all inboxes in these shards behind the response, because the organization's tokens were ended. */
export function closeInboxSockets(
  { accountId, inboxes, defer, log }: Notice,
  shards: readonly string[],
): void {
  const closing = callShards(inboxes, accountId, shards, (shard) => shard.closeSockets(null));
  // A shard that was not reached finds the new epoch before it sends anything.
  defer(closing.catch((error: unknown) => log("The sockets of inboxes could not be closed yet", error)));
}

/** The client's address and the identity, in an upgrade that the Worker forwards. */
export const ADDRESS_HEADER = "X-Inbox-Address";
export const IDENTITY_HEADER = "X-Inbox-Identity";

/** Upgrades a request to a WebSocket that has yet to join. */
export const connectInbox =
  (env: Pick<Env, "INBOXES"> & Settings) =>
  (accountId: string, identityId: string, request: Request): Promise<Response> =>
    openObject(env, env.INBOXES, shardName(accountId, identityId)).fetch("https://inbox/socket", {
      headers: {
        Upgrade: request.headers.get("Upgrade") ?? "",
        [ADDRESS_HEADER]: clientOf(request),
        [IDENTITY_HEADER]: identityId,
      },
    });

/** Callers have checked that the identity is the organization's. */
export const openInbox =
  <Inbox = InboxDelivery>(env: Pick<Env, "INBOXES"> & Settings): Inboxes<Inbox> =>
  (accountId, identityId) =>
    openStub(env, env.INBOXES, shardName(accountId, identityId));
