/** Passes the notices of rooms on to inboxes: page by page, and each page in an invocation of its own. */
import * as z from "zod";
import type { Tenant } from "../../platform/d1/d1.ts";
import { forEachConcurrently } from "../../platform/flow/concurrency.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { StoredNotice } from "../../room/storage/sqlite-threads.ts";
import type { Notice } from "../../room/types/notices.ts";
import type { InboxActivity, InboxPosition, InboxRemoval } from "../../wire/inbox.ts";
import { rightsIn, selectMembersAfter, selectReaders } from "../access/statements.ts";
import { selectRoom } from "../rooms/statements.ts";

/** Recipients of one invocation: each is a call, and the platform allows 10,000. */
const PAGE_SIZE = 1_000;
const INBOXES_AT_ONCE = 32;

/** The place in a notice's recipients: so many of those by name, so many groups, and members up to an ID. */
const Place = z.tuple([z.int(), z.int(), z.string()]);
type Place = z.infer<typeof Place>;
const START: Place = [0, 0, ""];

export interface NoticePage {
  readonly id: string;
  readonly roomId: string;
  readonly notice: Notice;
  /** Subjects of readers; those that are not identities have no inbox. */
  readonly subjects: readonly string[];
}

/** Delivers a page. Rejects unless every inbox has taken it. */
type DeliverPage = (page: NoticePage) => Promise<void>;

/** Passes notices on. Resolves to the places of those that could not be passed on as a whole, as JSON by their IDs. */
export async function passOn(
  tenant: Tenant,
  roomId: string,
  notices: readonly StoredNotice[],
  calls: WorkBudget,
  deliver: DeliverPage,
): Promise<ReadonlyMap<string, string>> {
  const left = new Map<string, string>();
  for (const { id, body, pending } of notices) {
    const notice = JSON.parse(body) as Notice;
    let place = pending === null ? START : Place.parse(JSON.parse(pending));
    try {
      for (
        let page = await readPage(tenant, notice, place);
        page !== null;
        page = await readPage(tenant, notice, place)
      ) {
        if (!calls.hasLeft) throw new Error("The invocation may make no further call");
        calls.spend();
        await deliver({ id, roomId, notice, subjects: page.subjects });
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
  notice: Notice,
  [named, group, after]: Place,
): Promise<{ readonly subjects: readonly string[]; readonly next: Place } | null> {
  const { to, groups, except } =
    notice.type === "read" ? { to: [notice.subject], groups: [], except: [] } : notice;
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

interface Inbox {
  deliver(activities: readonly InboxActivity[]): Promise<void>;
  markRead(position: InboxPosition): Promise<void>;
  removeItems(removal: InboxRemoval): Promise<void>;
}

/** Delivers a page to the inboxes of the identities that may read the room now. Rejects when one could not be reached. */
export async function deliverPage(
  tenant: Tenant,
  { id, roomId, notice, subjects }: NoticePage,
  inboxOf: (identityId: string) => Inbox,
): Promise<void> {
  const [[room], identities] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectReaders(tenant, roomId, subjects),
  ]);
  if (room === undefined) return; // its items are shown no more
  const mayRead = identities.filter(
    ({ access }) => notice.type === "threadDeleted" || rightsIn(access) !== 0,
  );
  const failures: unknown[] = [];
  await forEachConcurrently(INBOXES_AT_ONCE, mayRead, (identity) =>
    apply(inboxOf(identity.id), id, roomId, notice).catch((error: unknown) => void failures.push(error)),
  );
  if (failures.length > 0) throw failures[0];
}

function apply(inbox: Inbox, id: string, roomId: string, notice: Notice): Promise<void> {
  const subject = { roomId, kind: "thread", subjectId: notice.threadId } as const;
  switch (notice.type) {
    case "comment": {
      const { seq, at, by, commentId } = notice;
      return inbox.deliver([{ id, ...subject, seq, at, by, data: { commentId } }]);
    }
    case "read":
      return inbox.markRead({ ...subject, upTo: notice.seq });
    case "threadDeleted":
      return inbox.removeItems(subject);
  }
}
