/** Passes the updates of rooms on to inboxes: page by page, and each page in an invocation of its own. */
import { WorkerEntrypoint } from "cloudflare:workers";
import { combined } from "@atrium/contract/errors.ts";
import { INBOX_SHARDS, type InboxActivity, inboxShardOf } from "@atrium/contract/resources/inbox.ts";
import { defaultsFor, type NotificationDefaults } from "@atrium/contract/resources/notification-settings.ts";
import * as z from "zod";
import { callShards, type InboxDelivery, type Inboxes, openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { Stub } from "../../platform/objects/rpc.ts";
import type { Unreached } from "../../room/engine/outbox/outbox-drain.ts";
import type { StoredInboxUpdate } from "../../room/storage/sqlite-threads.ts";
import type { RoomStorage } from "../../room/storage/storage.ts";
import type { InboxUpdate } from "../../room/types/inbox-updates.ts";
import { selectMembersAfter, selectReaders } from "../access/statements.ts";
import { selectRoom } from "../rooms/statements.ts";
import { defaultsIn, selectDefaults } from "./recipients/store.ts";

/** Recipients of one invocation, which may make 1,000 queries. */
const PAGE_SIZE = 1_000;
/** Recipients whose access one query reads, and whose inboxes are called: a longer one would hold up the database. */
const READ_AT_ONCE = 50;
/** Minimum time per query of a large page, which leaves the database to others. */
const PACE_MS = 100;

/**
 * Position in an update's recipients: the number of names, the number of groups, members up to an ID, and
 * subscribers up to an ID; null behind the last one.
 */
const Place = z.tuple([z.int(), z.int(), z.string(), z.string().nullable().optional()]);
type Place = z.infer<typeof Place>;
const START: Place = [0, 0, ""];
const END: Place = [0, 0, "", null];

/** The room's own knowledge of recipients. */
type Threads = Pick<RoomStorage["threads"], "subscribers" | "willing" | "shardsOf" | "addShards">;

export interface UpdatePage {
  readonly id: string;
  readonly roomId: string;
  readonly update: InboxUpdate;
  /** Identities; for deletions, shards of inboxes. */
  readonly subjects: readonly string[];
  /** The members of a mentioned group. */
  readonly isOfGroup?: boolean;
}

/** Delivers a page. Rejects unless every inbox has taken it. */
type DeliverPage = (page: UpdatePage) => Promise<void>;

/** Passes updates on, those of a thread in order. Incomplete updates are left with the position to continue from. */
export async function fanOutInboxUpdates(
  tenant: Tenant,
  roomId: string,
  threads: Threads,
  updates: readonly StoredInboxUpdate[],
  calls: WorkBudget,
  deliver: DeliverPage,
): Promise<Unreached> {
  const left = new Map<string, string>();
  const failures: unknown[] = [];
  const waiting = new Set<string>();
  for (const { id, body, pending } of updates) {
    const update = JSON.parse(body) as InboxUpdate;
    const subjectId = "threadId" in update ? update.threadId : update.mentionId;
    let place = pending === null ? START : Place.parse(JSON.parse(pending));
    const keep = () => {
      left.set(id, JSON.stringify(place));
      waiting.add(subjectId);
    };
    if (waiting.has(subjectId)) {
      keep();
      continue;
    }
    const readNext = () => readPage(tenant, threads, update, place);
    try {
      for (let page = await readNext(); page !== null; page = await readNext()) {
        if (!calls.hasLeft) {
          keep();
          break;
        }
        calls.spend();
        if (update.type === "comment") threads.addShards(update.threadId, page.subjects);
        const { subjects, isOfGroup = false } = page;
        await deliver({ id, roomId, update, subjects, ...(isOfGroup && { isOfGroup }) });
        place = page.next;
      }
    } catch (error) {
      failures.push(error);
      keep();
    }
  }
  return { left, failures };
}

interface Page extends Pick<UpdatePage, "subjects" | "isOfGroup"> {
  readonly next: Place;
}

/** The recipients from a place on; null at the end. */
async function readPage(
  tenant: Tenant,
  threads: Threads,
  update: InboxUpdate,
  [named, group, member, subscriber]: Place,
): Promise<Page | null> {
  if (update.type !== "comment")
    return subscriber === null ? null : { subjects: recipientsOf(threads, update), next: END };
  const { to, groups, threadId, after = null } = update;
  if (named < to.length) {
    const subjects = to.slice(named, named + PAGE_SIZE);
    return { subjects, next: [named + subjects.length, group, member] };
  }
  const except = new Set(update.except);
  const behind = subscriber === undefined ? after : subscriber;
  if (behind !== null) {
    const found = threads.subscribers(threadId, behind, PAGE_SIZE);
    const last = found.length < PAGE_SIZE ? null : (found.at(-1) ?? null);
    return { subjects: found.filter((id) => !except.has(id)), next: [named, group, member, last] };
  }
  const groupId = groups[group];
  if (groupId === undefined) return null;
  const [members] = await tenant.db.run([selectMembersAfter(tenant, groupId, member, PAGE_SIZE)]);
  const ids = members.map(({ id }) => id);
  const isEnd = ids.length < PAGE_SIZE;
  return {
    isOfGroup: true,
    subjects: threads.willing(
      threadId,
      ids.filter((id) => !except.has(id)),
    ),
    next: isEnd ? [named, group + 1, "", null] : [named, group, ids.at(-1) ?? "", null],
  };
}

/**
 * Recipients of an update. For deletions, the shards of all inboxes that may know the content, also of those
 * who left its groups.
 */
function recipientsOf(
  threads: Threads,
  update: Exclude<InboxUpdate, { readonly type: "comment" }>,
): readonly string[] {
  if ("subject" in update) return [update.subject];
  const { to, groups, threadId } = update; // the version before names readers and groups
  if (groups.length > 0) return INBOX_SHARDS;
  return [...new Set([...to, ...(threads.shardsOf(threadId) ?? [])].map(inboxShardOf))];
}

/** Delivers a page to the inboxes that it is for. Rejects when one could not be reached. */
async function deliverPage(
  tenant: Tenant,
  { roomId, update, subjects, isOfGroup = false }: UpdatePage,
  inboxes: Inboxes,
): Promise<void> {
  const failures: unknown[] = [];
  const batches = batchesOf(subjects);
  for (const batch of batches) {
    const pause = batches.length > 2 ? sleep(PACE_MS) : null;
    const sent = update.type === "comment" && isOfGroup ? { ...update, mentioned: batch } : update;
    const { ids, apply } =
      sent.type === "commentsDeleted" || sent.type === "threadDeleted"
        ? { ids: batch, apply: removing(roomId, sent) }
        : await readersFor(tenant, roomId, sent, batch);
    await callShards(inboxes, tenant.accountId, ids, apply).catch(
      (error: unknown) => void failures.push(error),
    );
    await pause;
  }
  if (failures.length > 0) throw combined(failures);
}

/** Identities that may read the room now; for a deleted mention, all that exist. */
async function readersFor(
  tenant: Tenant,
  roomId: string,
  update: Exclude<InboxUpdate, Deletion>,
  batch: readonly string[],
) {
  const [[room], identities, [defaults]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectReaders(tenant, roomId, batch),
    selectDefaults(tenant),
  ]);
  const isDeletion = update.type === "textMentionDeleted";
  const mayKnow = identities.filter(({ mayRead }) => isDeletion || mayRead === 1);
  const ids = room === undefined ? [] : mayKnow.map(({ id }) => id); // a deleted room is removed as a whole
  const guests = new Set(mayKnow.filter(({ kind }) => kind === "guest").map(({ id }) => id));
  return { ids, apply: applying(roomId, update, defaultsIn(defaults), guests) };
}

/** Groups recipients by shard, and merges small groups: each call reaches many. */
function batchesOf(subjects: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  for (const ofShard of Map.groupBy(subjects, inboxShardOf).values())
    for (let at = 0; at < ofShard.length; at += READ_AT_ONCE) {
      const some = ofShard.slice(at, at + READ_AT_ONCE);
      const last = batches.at(-1);
      if (last !== undefined && last.length + some.length <= READ_AT_ONCE) last.push(...some);
      else batches.push(some);
    }
  return batches;
}

type Apply = (shard: Stub<InboxDelivery>, identityIds: readonly string[]) => Promise<void>;

type Deletion = Extract<InboxUpdate, { readonly type: "commentsDeleted" | "threadDeleted" }>;

/** The calls of shards that an update takes. */
function applying(
  roomId: string,
  update: Exclude<InboxUpdate, Deletion>,
  defaults: NotificationDefaults,
  guests: ReadonlySet<string>,
): Apply {
  if ("mentionId" in update) return applyingMention(roomId, update, defaults, guests);
  const subject = { roomId, kind: "thread", subjectId: update.threadId } as const;
  if (update.type === "read") return (shard, ids) => shard.markRead(ids, { ...subject, upTo: update.seq });
  const { seq, at, commentId, mentioned = [] } = update;
  const activity = { id: commentId, ...subject, seq, at, data: { commentId }, mentioned };
  return delivering(activity, update, defaults, guests);
}

/** Guests get the user of the author instead of the identity, which they could recognize in other rooms. */
const delivering =
  (
    activity: Omit<InboxActivity, "by">,
    { by, byUser = null }: Pick<Extract<InboxUpdate, { readonly byUser?: unknown }>, "by" | "byUser">,
    defaults: NotificationDefaults,
    guests: ReadonlySet<string>,
  ): Apply =>
  async (shard, ids) => {
    const [ofGuests, others] = [ids.filter((id) => guests.has(id)), ids.filter((id) => !guests.has(id))];
    if (others.length > 0) await shard.deliver(others, [{ ...activity, by }], defaults);
    if (ofGuests.length > 0)
      await shard.deliver(ofGuests, [{ ...activity, by: byUser }], defaultsFor({ kind: "guest" }, defaults));
  };

function removing(roomId: string, update: Deletion): Apply {
  const subject = { roomId, kind: "thread", subjectId: update.threadId } as const;
  const removal = update.type === "threadDeleted" ? subject : { ...subject, activityIds: update.commentIds };
  return (shard) => shard.removeFromAll(removal);
}

/** A mention is a subject of its own with one activity, so that it is notified of once. */
function applyingMention(
  roomId: string,
  update: Extract<InboxUpdate, { readonly mentionId: string }>,
  defaults: NotificationDefaults,
  guests: ReadonlySet<string>,
): Apply {
  const subject = { roomId, kind: "textMention", subjectId: update.mentionId } as const;
  if (update.type === "textMentionDeleted") return (shard, ids) => shard.removeItems(ids, subject);
  const { mentionId, document, at } = update;
  const data = document === undefined ? {} : { document };
  const activity = { id: `${roomId} ${mentionId}`, ...subject, seq: 1, at, data };
  return delivering(activity, update, defaults, guests);
}

/** Delivers pages in invocations of their own, for which the platform counts calls anew. */
export class InboxFanOut extends WorkerEntrypoint<Env> {
  /** Rejects when an inbox could not be reached. */
  deliver(accountId: string, page: UpdatePage): Promise<void> {
    return deliverPage(openTenant(this.env, accountId), page, openInbox(this.env));
  }

  /** Tells the sockets of agents that comments mention them. Rejects when a shard could not be reached. */
  mention(accountId: string, identityIds: readonly string[]): Promise<void> {
    return callShards(openInbox(this.env), accountId, identityIds, (shard, ids) => shard.mention(ids));
  }
}
