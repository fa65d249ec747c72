/** Passes the updates of rooms on to inboxes: page by page, and each page in an invocation of its own. */
import { WorkerEntrypoint } from "cloudflare:workers";
import * as z from "zod";
import { callShards, type InboxDelivery, type Inboxes, openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { Stub } from "../../platform/objects/rpc.ts";
import type { StoredInboxUpdate } from "../../room/storage/sqlite-threads.ts";
import type { InboxUpdate } from "../../room/types/inbox-updates.ts";
import { inboxShardOf } from "../../wire/inbox.ts";
import type { NotificationDefaults } from "../../wire/notification-settings.ts";
import { rightsIn, selectMembersAfter, selectReaders } from "../access/statements.ts";
import { defaultsIn, selectDefaults } from "../notifications/statements.ts";
import { selectRoom } from "../rooms/statements.ts";

/** Recipients of one invocation, which may make 1,000 queries. */
const PAGE_SIZE = 1_000;
/** Recipients whose access one query reads, and whose inboxes are called: a longer one would hold up the database. */
const READ_AT_ONCE = 50;
/** A large page takes so long for each of these queries at least: others are served meanwhile, also by the only process. */
const PACE_MS = 100;

/** The place in an update's recipients: so many of those by name, so many groups, and members up to an ID. */
const Place = z.tuple([z.int(), z.int(), z.string()]);
type Place = z.infer<typeof Place>;
const START: Place = [0, 0, ""];
/** They also reach inboxes of identities that may not read the room any more. */
const DELETIONS: ReadonlySet<InboxUpdate["type"]> = new Set([
  "threadDeleted",
  "commentsDeleted",
  "textMentionDeleted",
]);

export interface UpdatePage {
  readonly id: string;
  readonly roomId: string;
  readonly update: InboxUpdate;
  /** Subjects of readers; those that are not identities have no inbox. */
  readonly subjects: readonly string[];
}

/** Delivers a page. Rejects unless every inbox has taken it. */
type DeliverPage = (page: UpdatePage) => Promise<void>;

/** Passes updates on. Resolves to the places of those that could not be passed on as a whole, as JSON by their IDs. */
export async function passOn(
  tenant: Tenant,
  roomId: string,
  updates: readonly StoredInboxUpdate[],
  calls: WorkBudget,
  deliver: DeliverPage,
): Promise<ReadonlyMap<string, string>> {
  const left = new Map<string, string>();
  for (const { id, body, pending } of updates) {
    const update = JSON.parse(body) as InboxUpdate;
    let place = pending === null ? START : Place.parse(JSON.parse(pending));
    try {
      for (
        let page = await readPage(tenant, update, place);
        page !== null;
        page = await readPage(tenant, update, place)
      ) {
        if (!calls.hasLeft) throw new Error("The invocation may make no further call");
        calls.spend();
        await deliver({ id, roomId, update, subjects: page.subjects });
        place = page.next;
      }
    } catch {
      left.set(id, JSON.stringify(place));
    }
  }
  return left;
}

/** The recipients from a place on; null at the end. */
async function readPage(
  tenant: Tenant,
  update: InboxUpdate,
  [named, group, after]: Place,
): Promise<{ readonly subjects: readonly string[]; readonly next: Place } | null> {
  const { to, groups, except } =
    "subject" in update ? { to: [update.subject], groups: [], except: [] } : update;
  if (named < to.length) {
    const subjects = to.slice(named, named + PAGE_SIZE);
    return { subjects, next: [named + subjects.length, group, after] };
  }
  const groupId = groups[group];
  if (groupId === undefined) return null;
  const [members] = await tenant.db.run([selectMembersAfter(tenant, groupId, after, PAGE_SIZE)]);
  const unwilling = new Set(except);
  const isEnd = members.length < PAGE_SIZE;
  return {
    subjects: members.map(({ id }) => id).filter((id) => !unwilling.has(id)),
    next: isEnd ? [named, group + 1, ""] : [named, group, members.at(-1)?.id ?? ""],
  };
}

/** Delivers a page to the inboxes of the identities that may read the room now. Rejects when one could not be reached. */
async function deliverPage(
  tenant: Tenant,
  { roomId, update, subjects }: UpdatePage,
  inboxes: Inboxes,
): Promise<void> {
  const failures: unknown[] = [];
  const batches = batchesOf(subjects);
  for (const batch of batches) {
    const pause = batches.length > 2 ? sleep(PACE_MS) : null;
    const [[room], identities, [defaults]] = await tenant.db.run([
      selectRoom(tenant, { id: roomId }),
      selectReaders(tenant, roomId, batch),
      selectDefaults(tenant),
    ]);
    if (room === undefined) return; // its items are shown no more
    const mayRead = identities.filter(({ access }) => DELETIONS.has(update.type) || rightsIn(access) !== 0);
    const ids = mayRead.map(({ id }) => id);
    const apply = applying(roomId, update, defaultsIn(defaults));
    await callShards(inboxes, tenant.accountId, ids, apply).catch(
      (error: unknown) => void failures.push(error),
    );
    await pause;
  }
  if (failures.length > 0) throw failures[0];
}

/** Few recipients together, and of many those of one shard, so that it is called once. */
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

/** The calls of shards that an update takes. */
function applying(roomId: string, update: InboxUpdate, defaults: NotificationDefaults): Apply {
  if ("mentionId" in update) return applyingMention(roomId, update, defaults);
  const subject = { roomId, kind: "thread", subjectId: update.threadId } as const;
  switch (update.type) {
    case "comment": {
      const { seq, at, by, commentId } = update;
      const activity = { id: commentId, ...subject, seq, at, by, data: { commentId } };
      return (shard, ids) => shard.deliver(ids, [activity], defaults);
    }
    case "commentsDeleted":
      return (shard, ids) => shard.removeItems(ids, { ...subject, activityIds: update.commentIds });
    case "read":
      return (shard, ids) => shard.markRead(ids, { ...subject, upTo: update.seq });
    case "threadDeleted":
      return (shard, ids) => shard.removeItems(ids, subject);
  }
}

/** A mention is a subject of its own with one activity, so that it is notified of once. */
function applyingMention(
  roomId: string,
  update: Extract<InboxUpdate, { readonly mentionId: string }>,
  defaults: NotificationDefaults,
): Apply {
  const subject = { roomId, kind: "textMention", subjectId: update.mentionId } as const;
  if (update.type === "textMentionDeleted") return (shard, ids) => shard.removeItems(ids, subject);
  const { mentionId, document, at, by } = update;
  const data = document === undefined ? {} : { document };
  const activity = { id: `${roomId} ${mentionId}`, ...subject, seq: 1, at, by, data };
  return (shard, ids) => shard.deliver(ids, [activity], defaults);
}

/** Delivers pages in invocations of their own, for which the platform counts calls anew. */
export class InboxFanOut extends WorkerEntrypoint<Env> {
  /** Rejects when an inbox could not be reached. */
  deliver(accountId: string, page: UpdatePage): Promise<void> {
    return deliverPage(openTenant(this.env, accountId), page, openInbox(this.env));
  }
}
