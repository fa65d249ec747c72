/** Passes the updates of rooms on to inboxes: page by page, and each page in an invocation of its own. */
import { WorkerEntrypoint } from "cloudflare:workers";
import * as z from "zod";
import { type Inboxes, openInbox } from "../../delivery/inboxes.ts";
import type { Env } from "../../env.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import { forEachConcurrently, sleep } from "../../platform/flow/concurrency.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { StoredInboxUpdate } from "../../room/storage/sqlite-threads.ts";
import type { InboxUpdate } from "../../room/types/inbox-updates.ts";
import type { NotificationDefaults } from "../../wire/notification-settings.ts";
import { rightsIn, selectMembersAfter, selectReaders } from "../access/statements.ts";
import { defaultsIn, selectDefaults } from "../notifications/statements.ts";
import { selectRoom } from "../rooms/statements.ts";

/** Recipients of one invocation: each is a call, and the platform allows 10,000. */
const PAGE_SIZE = 1_000;
const INBOXES_AT_ONCE = 8;
/** Recipients whose access one query reads: a longer one would hold up the database. */
const READ_AT_ONCE = 100;
/**
 * The least time of each of these calls, where there are many: a process that has all objects takes up requests of
 * others only when no call is under way.
 */
const INBOX_MS = 14;

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
  for (let at = 0; at < subjects.length; at += READ_AT_ONCE) {
    const [[room], identities, [defaults]] = await tenant.db.run([
      selectRoom(tenant, { id: roomId }),
      selectReaders(tenant, roomId, subjects.slice(at, at + READ_AT_ONCE)),
      selectDefaults(tenant),
    ]);
    if (room === undefined) return; // its items are shown no more
    const mayRead = identities.filter(({ access }) => DELETIONS.has(update.type) || rightsIn(access) !== 0);
    await forEachConcurrently(INBOXES_AT_ONCE, mayRead, async (identity) => {
      const pause = subjects.length > READ_AT_ONCE ? sleep(INBOX_MS) : null;
      await apply(inboxes(tenant.accountId, identity.id), roomId, update, defaultsIn(defaults)).catch(
        (error: unknown) => void failures.push(error),
      );
      await pause;
    });
  }
  if (failures.length > 0) throw failures[0];
}

function apply(
  inbox: ReturnType<Inboxes>,
  roomId: string,
  update: InboxUpdate,
  defaults: NotificationDefaults,
): Promise<void> {
  if ("mentionId" in update) return applyMention(inbox, roomId, update, defaults);
  const subject = { roomId, kind: "thread", subjectId: update.threadId } as const;
  switch (update.type) {
    case "comment": {
      const { seq, at, by, commentId } = update;
      const activity = { id: commentId, ...subject, seq, at, by, data: { commentId } };
      return inbox.deliver([activity], defaults);
    }
    case "commentsDeleted":
      return inbox.removeItems({ ...subject, activityIds: update.commentIds });
    case "read":
      return inbox.markRead({ ...subject, upTo: update.seq });
    case "threadDeleted":
      return inbox.removeItems(subject);
  }
}

/** A mention is a subject of its own with one activity, so that it is notified of once. */
function applyMention(
  inbox: ReturnType<Inboxes>,
  roomId: string,
  update: Extract<InboxUpdate, { readonly mentionId: string }>,
  defaults: NotificationDefaults,
): Promise<void> {
  const subject = { roomId, kind: "textMention", subjectId: update.mentionId } as const;
  if (update.type === "textMentionDeleted") return inbox.removeItems(subject);
  const { mentionId, document, at, by } = update;
  const data = document === undefined ? {} : { document };
  return inbox.deliver([{ id: `${roomId} ${mentionId}`, ...subject, seq: 1, at, by, data }], defaults);
}

/** Delivers pages in invocations of their own, for which the platform counts calls anew. */
export class InboxFanOut extends WorkerEntrypoint<Env> {
  /** Rejects when an inbox could not be reached. */
  deliver(accountId: string, page: UpdatePage): Promise<void> {
    return deliverPage(openTenant(this.env, accountId), page, openInbox(this.env));
  }
}
