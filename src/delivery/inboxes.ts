/** The inboxes of an organization's identities, in shards: objects that each have those of some identities. */
import type { Env } from "../env.ts";
import type { RequestContext } from "../platform/d1/context.ts";
import { combined } from "../platform/errors.ts";
import { forEachConcurrently } from "../platform/flow/concurrency.ts";
import { clientOf } from "../platform/network.ts";
import { openStub, type Stub } from "../platform/objects/rpc.ts";
import {
  INBOX_SHARDS,
  type InboxActivity,
  type InboxPosition,
  type InboxRemoval,
  inboxShardOf,
} from "../wire/inbox.ts";
import type { NotificationDefaults } from "../wire/notification-settings.ts";
import { selectInboxShards } from "./inbox-store.ts";

/**
 * The calls of those who deliver, for identities of one shard; callers have read that they exist. The object of the inbox
 * feature has them. An inbox whose identity was deleted takes nothing.
 */
export interface InboxDelivery {
  /** Idempotent by the IDs of activities, in any order. */
  deliver(
    identityIds: readonly string[],
    activities: readonly InboxActivity[],
    defaults: NotificationDefaults,
  ): void;
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
  remove(identityIds: readonly string[]): Promise<void>;
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

/** Identities that are named when their access changes; more than these are all of the organization. */
export const RECOUNTED = 1_000;

/** Recounts the inboxes of identities behind the response; of a change in one room, those that have items of it. */
export function recountInboxes(notice: Notice, identityIds: readonly string[], roomId?: string): void {
  const { accountId, inboxes } = notice;
  recountBehind(
    notice,
    identityIds.length > RECOUNTED
      ? callShards(inboxes, accountId, INBOX_SHARDS, (shard) => shard.recount(null, roomId))
      : callShards(inboxes, accountId, identityIds, (shard, ids) => shard.recount(ids, roomId)),
  );
}

/** Recounts all inboxes that have items of a room behind the response: D1 does not know who was notified of it. */
export function recountInboxesWith(notice: Notice & Pick<RequestContext, "db">, roomId: string): void {
  const { accountId, db, inboxes } = notice;
  const recount = async () => {
    const [found] = await db.run([selectInboxShards(notice)]);
    const shards = found.map(({ shard }) => shard);
    await callShards(inboxes, accountId, shards, (shard) => shard.recount(null, roomId));
  };
  recountBehind(notice, recount());
}

/** After a failure, sockets have the right count with their next frame. */
const recountBehind = ({ defer, log }: Notice, recounting: Promise<void>): void =>
  defer(recounting.catch((error: unknown) => log("Inboxes could not be recounted", error)));

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
  (env: Pick<Env, "INBOXES">) =>
  (accountId: string, identityId: string, request: Request): Promise<Response> =>
    env.INBOXES.getByName(shardName(accountId, identityId)).fetch("https://inbox/socket", {
      headers: {
        Upgrade: request.headers.get("Upgrade") ?? "",
        [ADDRESS_HEADER]: clientOf(request),
        [IDENTITY_HEADER]: identityId,
      },
    });

/** Callers have checked that the identity is the organization's. */
export const openInbox =
  <Inbox = InboxDelivery>(env: Pick<Env, "INBOXES">): Inboxes<Inbox> =>
  (accountId, identityId) =>
    openStub(env.INBOXES, shardName(accountId, identityId));
