/** Threads as their readers see them: unread comments, subscriptions, and the updates for inboxes. */

import type { CommentCreation } from "@atrium/contract/operations/comments.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { Mentioned, SubscriptionSettings } from "@atrium/contract/resources/thread.ts";
import { fold } from "@atrium/contract/text.ts";
import { describe, expect } from "vitest";
import { Changes } from "../../../../src/room/engine/content/changes.ts";
import { RoomComments } from "../../../../src/room/engine/content/comments.ts";
import { ThreadRemoval } from "../../../../src/room/engine/content/thread-removal.ts";
import { RoomThreads } from "../../../../src/room/engine/content/threads.ts";
import type { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import type { InboxUpdate } from "../../../../src/room/types/inbox-updates.ts";
import { type Random, randomOf } from "../../../support/random.ts";
import { eventPorts, limits, roomPorts } from "../../support/room-ports.ts";
import { ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

/** A user whose identity has another ID. */
const person = (name: string) => ({ subject: `${name}'s identity`, userId: name });
const [ada, ben, cleo] = ["ada", "ben", "cleo"].map(person) as [Author, Author, Author];
/** A user of the room alone, who has no inbox. */
const dan = { subject: "dan", userId: "dan" };
type Author = ReturnType<typeof person>;

const NO_ONE = { readers: [], groups: [] };

/** The threads and comments of a room, without its object: updates stay until `takeUpdates` removes them. */
function open(
  storage: SqliteStorage,
  some: Partial<Parameters<typeof roomPorts>[0]> = {},
  cause: () => EventCause | null = () => null,
  erased?: ReadonlySet<string>,
) {
  const ports = roomPorts({ storage, ...some });
  const changes = new Changes(ports);
  const threads = new RoomThreads(ports, changes);
  storage.occupancy.writeRoom(ROOM);
  const comments = new RoomComments(ports, changes, threads, { ...eventPorts(ports), cause }, erased);
  const removal = new ThreadRemoval(ports, changes, comments);
  const write = (author: Author, threadId?: string, mentioned: Mentioned = NO_ONE, mentions: string[] = []) =>
    comments.create({ text: "Hello", mentions, threadId }, author, mentioned);
  const takeUpdates = () =>
    storage.inboxUpdates.list(1_000).map(({ seq, body }) => {
      const update = JSON.parse(body) as InboxUpdate;
      if (update.type === "comment") storage.threads.addShards(update.threadId, update.to);
      storage.inboxUpdates.delete(seq);
      return update;
    });
  const listed = (
    reader: Author,
    filter: { unread?: boolean; subscribed?: boolean; resolved?: boolean } = {},
  ) => threads.list({ limit: 50, offset: 0, ...filter }, reader);
  return { changes, threads, comments, removal, write, takeUpdates, listed };
}

test("an author has read the own comment, and is notified of replies", ({ storage }) => {
  const { threads, write, takeUpdates } = open(storage);
  const { id } = write(ada);
  expect(threads.get(id, ada)).toEqual({
    ...{ id, room_id: ROOM.id, resolved: false, comment_count: 1, last_seq: 1 },
    ...{ created_at: "1970-01-01T00:00:00.000Z", updated_at: "1970-01-01T00:00:00.000Z" },
    ...{ subscribed: true, read_seq: 1, unread_count: 0 },
  });
  expect(threads.get(id, ben)).toMatchObject({ subscribed: false, read_seq: 0, unread_count: 1 });
  expect(takeUpdates()).toEqual([]);
  const reply = write(ben, id);
  expect(threads.get(id, ada)).toMatchObject({ comment_count: 2, read_seq: 1, unread_count: 1 });
  expect(takeUpdates()).toEqual([
    { type: "read", threadId: id, subject: ben.subject, seq: 2 },
    {
      ...{
        type: "comment",
        threadId: id,
        commentId: reply.id,
        seq: 2,
        at: 0,
        by: ben.subject,
        byUser: "ben",
      },
      ...{ to: [ada.subject], groups: [], except: [ben.subject] },
    },
  ]);
});

test("a reader marks a position: later comments stay unread, and an earlier one changes nothing (R93)", ({
  storage,
}) => {
  const { threads, write, takeUpdates } = open(storage);
  const { id } = write(ada);
  for (let more = 0; more < 3; more += 1) write(ada, id);
  takeUpdates();
  expect(threads.read(id, ben, 2)).toMatchObject({ read_seq: 2, unread_count: 2 });
  expect(threads.read(id, ben, 1)).toMatchObject({ read_seq: 2, unread_count: 2 });
  expect(threads.read(id, ben)).toMatchObject({ read_seq: 4, unread_count: 0 });
  expect(threads.read(id, ben, 99)).toMatchObject({ read_seq: 4 });
  expect(takeUpdates()).toEqual(
    [2, 4].map((seq) => ({ type: "read", threadId: id, subject: ben.subject, seq })),
  );
  write(ada, id);
  expect(threads.get(id, ben)).toMatchObject({ read_seq: 4, unread_count: 1 });
});

test("the mentioned take part and are notified, members of groups once, except those who want nothing", ({
  storage,
}) => {
  const { threads, write, takeUpdates } = open(storage);
  threads.updateSettings(cleo, { threads: "none" });
  const { id } = write(ada, undefined, { readers: [ben, cleo], groups: ["team"] });
  expect(takeUpdates()).toMatchObject([
    { type: "comment", to: [ben.subject], groups: ["team"], except: [ada.subject] },
  ]);
  const willing = () =>
    storage.threads.willing(
      id,
      [ben, cleo, dan].map(({ subject }) => subject),
    );
  expect(willing()).toEqual([ben.subject, dan.subject]);
  expect(threads.participants(id)).toEqual([ada, ben, cleo]);
  threads.subscribe(id, ben, false);
  write(ada, id, { readers: [ben], groups: ["team"] });
  expect(takeUpdates()).toMatchObject([{ to: [], groups: ["team"] }]);
  expect(willing()).toEqual([dan.subject]);
  threads.subscribe(id, cleo, true);
  expect(willing()).toEqual([cleo.subject, dan.subject]);
  write(ada, id);
  expect(takeUpdates()).toMatchObject([{ to: [cleo.subject] }]);
});

test("a mention in a document notifies neither its author nor a reader who wants none (R91)", ({
  storage,
}) => {
  const { threads, takeUpdates } = open(storage);
  threads.updateSettings(ben, { textMentions: "none" });
  for (const reader of [ada, ben, cleo, dan])
    threads.mentionInText({ mentionId: "m1", userId: reader.userId }, { ...NO_ONE, readers: [reader] }, ada);
  expect(takeUpdates()).toMatchObject([{ type: "textMention", subject: cleo.subject, by: ada.subject }]);
});

describe("the quota of notifications that a user's mentions cause", () => {
  const HOUR_MS = 60 * 60 * 1000;
  const HOURLY = { ofUser: 10, ofGuest: 2 };
  const exceeded = (used: number, of = 10) =>
    new RegExp(`^The quota notifications_per_hour is exceeded: ${used} of ${of} are used`);
  const team = { groups: ["team"], groupSizes: { team: 6 } };

  test("counts the members of groups, and is refused as a whole above it (R91)", ({ storage }) => {
    const { changes, write, takeUpdates } = open(storage, {
      limits: limits({ notificationsPerHour: HOURLY }),
    });
    const attempt = (mentioned: Partial<Mentioned>, author = ada) =>
      changes.transaction(() => write(author, undefined, { ...NO_ONE, ...mentioned }));
    attempt({ ...team, readers: [ben] });
    takeUpdates();
    expect(() => attempt(team)).toThrow(exceeded(7));
    expect([takeUpdates(), changes.lastSeq]).toEqual([[], 1]);
    attempt({ readers: [ben, cleo, ada] }); // the author is not notified
    attempt({ readers: [{ subject: "dan", userId: "dan" }] }); // nor is a user without an identity
    attempt({ readers: [ben] });
    expect(() => attempt({ readers: [ben] })).toThrow(exceeded(10));
    attempt({});
    attempt({ readers: [ben] }, cleo);
  });

  test("counts each inbox once, however often a person or a group is mentioned (R91)", ({ storage }) => {
    const { write } = open(storage, { limits: limits({ notificationsPerHour: HOURLY }) });
    const readers = Array.from({ length: 50 }, () => ben);
    write(ada, undefined, { ...NO_ONE, ...team, readers, groups: ["team", "team"] });
    expect(storage.notificationCounts.find(ada.userId, -1)).toMatchObject({ count: 7 });
  });

  test("is another one for guests, and ends an hour after its first notification (R91)", ({ storage }) => {
    let now = 1_000;
    const ports = { limits: limits({ notificationsPerHour: HOURLY }), now: () => now };
    const byGuest = { ...NO_ONE, readers: [ben], byGuest: true };
    const { changes, threads, write } = open(storage, ports);
    const mention = () => threads.mentionInText({ mentionId: "m", userId: ben.subject }, byGuest, ada);
    write(ada, undefined, byGuest);
    now += HOUR_MS - 1;
    mention();
    expect(mention).toThrow(exceeded(2, 2));
    expect(mention).toThrow(/wait until 1970-01-01T01:00:01.000Z$/);
    // The room has started again.
    const again = open(storage, ports);
    expect(() => changes.transaction(() => again.write(ada, undefined, byGuest))).toThrow(exceeded(2, 2));
    now += 1;
    mention();
    storage.threads.deleteUser(ada.userId);
    expect(storage.notificationCounts.find(ada.userId, 0)).toBe(null);
  });

  test("counts only those whom an edit mentions besides (R91)", ({ storage }) => {
    const { comments, write } = open(storage, { limits: limits({ notificationsPerHour: HOURLY }) });
    const { id } = write(ada, undefined, { ...NO_ONE, readers: [ben] }, [ben.userId]);
    const edit = (readers: Author[]) =>
      comments.edit(id, { mentions: readers.map(({ userId }) => userId) }, ada.userId, {
        ...NO_ONE,
        readers,
      });
    for (let times = 0; times < 20; times += 1) edit([ben]);
    edit([ben, cleo]);
    expect(storage.notificationCounts.find(ada.userId, -1)).toMatchObject({ count: 2 });
  });
});

test("settings decide until a reader chooses for a thread (R93)", ({ storage }) => {
  const { threads, write, takeUpdates, listed } = open(storage);
  const { id } = write(ada);
  const other = write(ada);
  expect(threads.updateSettings(ben, {})).toEqual({ threads: "replies_and_mentions", textMentions: "mine" });
  expect(listed(ben, { subscribed: true }).threads).toEqual([]);
  expect(threads.updateSettings(ben, { threads: "all" })).toEqual({ threads: "all", textMentions: "mine" });
  threads.subscribe(other.id, ben, false);
  expect(listed(ben, { subscribed: true })).toMatchObject({ threads: [{ id }], total: 1, next: null });
  expect(listed(ben, { subscribed: false })).toMatchObject({ threads: [{ id: other.id }], total: 1 });
  takeUpdates();
  write(ada, id);
  write(ada, other.id);
  expect(takeUpdates()).toMatchObject([{ threadId: id, to: [ben.subject] }]);
});

test("a thread has the resolution of its first comment, and ends with its last", ({ storage }) => {
  const { threads, comments, write, takeUpdates, listed } = open(storage);
  const { id } = write(ada, undefined, { readers: [], groups: ["team"] });
  const reply = write(ben, id);
  comments.resolve(reply.id, true, null);
  expect(threads.get(id, null).resolved).toBe(false);
  expect(comments.resolveThread(id, true, null).resolved).toBe(true);
  expect(listed(ada, { resolved: true }).total).toBe(1);
  comments.delete(id, null);
  expect(threads.get(id, ada)).toMatchObject({ resolved: true, comment_count: 1 });
  takeUpdates();
  comments.delete(reply.id, null);
  expect(takeUpdates()).toEqual([
    { type: "threadDeleted", threadId: id, to: ["ad", "be"], groups: [], except: [] },
  ]);
  expect(() => threads.get(id, null)).toThrow("Thread not found");
  const whole = write(ada);
  for (let more = 0; more < 150; more += 1) write(ben, whole.id);
  expect(comments.deleteThread(whole.id)).toMatchObject({ id: whole.id, comment_count: 151 });
  expect([listed(ada).total, storage.comments.totals()]).toEqual([0, { comments: 0, bytes: 0 }]);
  const events = storage.events.list(999).map(({ event, body }) => [event, JSON.parse(body).data.threadId]);
  expect(events.filter(([event]) => event.startsWith("thread."))).toEqual([
    ...[
      ["thread.created", id],
      ["thread.resolved", id],
      ["thread.deleted", id],
    ],
    ...[
      ["thread.created", whole.id],
      ["thread.deleted", whole.id],
    ],
  ]);
});

test("a deleted thread is gone at once, and its comments go in slices, also after a restart", ({
  storage,
}) => {
  const room = open(storage);
  const other = room.write(ada, undefined, NO_ONE, ["cleo"]);
  const { id } = room.write(ada, undefined, { ...NO_ONE, readers: [cleo] }, ["cleo"]);
  const reply = room.write(ben, id);
  for (let more = 0; more < 250; more += 1) room.write(ben, id);
  room.takeUpdates();
  const kept = room.comments.list({ limit: 9, offset: 0, after: 0, threadId: other.id }).comments;
  room.changes.takeEvents();
  const before = room.changes.lastSeq;
  expect(room.changes.transaction(() => room.comments.deleteThread(id))).toMatchObject({
    comment_count: 252,
  });
  const shown = ({ comments, threads, listed }: ReturnType<typeof open>) => ({
    listed: comments.list({ limit: 9, offset: 0, after: 0 }),
    ofThread: comments.list({ limit: 9, offset: 0, after: 0, threadId: id }).total,
    resolved: comments.list({ limit: 9, offset: 0, after: 0, resolved: false }).total,
    found: comments.search({ search: fold("Hello"), after: 0 }).comments,
    byId: comments.find([id, reply.id]),
    threads: listed(cleo).threads.map((thread) => thread.id),
    count: listed(cleo).total,
    states: [storage.threads.listOfUser("cleo"), threads.participants(other.id).length],
    totals: storage.comments.totals(),
  });
  const bytes = kept.reduce((sum, comment) => sum + JSON.stringify(comment).length, 0);
  const gone = {
    ...{ listed: { comments: kept, total: 1, next: null }, ofThread: 0, resolved: 1, found: kept, byId: [] },
    ...{ threads: [other.id], count: 1, states: [[], 1], totals: { comments: 1, bytes } },
  };
  expect(shown(room)).toEqual(gone);
  const missing = /not found/;
  expect(() => room.comments.deleteThread(id)).toThrow(missing);
  expect(() => room.comments.edit(reply.id, { text: "No" }, ben.userId, NO_ONE)).toThrow(missing);
  expect(() => room.comments.react(reply.id, "+1", true, "cleo")).toThrow(missing);
  expect(() => room.comments.resolve(reply.id, true, null)).toThrow(missing);
  expect(() => room.comments.delete(reply.id, null)).toThrow(missing);
  expect(() => room.write(cleo, id)).toThrow(missing);
  expect(() => room.threads.read(id, cleo)).toThrow(missing);
  expect(room.takeUpdates()).toMatchObject([{ type: "threadDeleted", threadId: id }]);
  for (let slices = 0; ; slices += 1) {
    const next = open(storage); // after a restart
    expect(shown(next)).toEqual(gone);
    if (next.removal.dueAt() === null) break;
    const events = next.removal.run();
    expect(events.length).toBeLessThanOrEqual(100);
    expect(slices).toBeLessThan(5);
  }
  const deleted = storage.changes.listAfter(before).map(({ event, data }) => [event, JSON.parse(data).by]);
  expect(deleted).toEqual(Array.from({ length: 252 }, () => ["commentDeleted", null]));
  const events = storage.events.list(999).map(({ event }) => event);
  expect(events.filter((event) => event === "comment.deleted")).toHaveLength(252);
  expect(events.filter((event) => event === "thread.deleted")).toHaveLength(1);
  expect(storage.read("SELECT 1 FROM ended_threads UNION ALL SELECT 1 FROM notified_mentions")).toEqual([]);
});

test("the events of a large thread that a workflow deletes follow from its run, in every slice", ({
  storage,
}) => {
  const cause = { depth: 2, workflowId: "cleaner" };
  const room = open(storage, {}, () => cause);
  const { id } = room.write(ada);
  for (let more = 0; more < 120; more += 1) room.write(ada, id);
  const latest = storage.events.list(999).at(-1)?.seq ?? 0;
  room.comments.deleteThread(id);
  const later = open(storage);
  while (later.removal.dueAt() !== null) later.removal.run();
  const events = storage.events.list(999).filter(({ seq }) => seq > latest);
  expect(events).toHaveLength(122);
  for (const { body } of events) expect(body).toContain('"cleaner"');
});

test("a slice that fails is tried again a second later", ({ storage }) => {
  let now = 0;
  const room = open(storage, { now: () => now });
  const { id } = room.write(ada);
  for (let more = 0; more < 120; more += 1) room.write(ada, id);
  room.comments.deleteThread(id);
  room.changes.takeEvents();
  storage.write("CREATE TRIGGER full BEFORE DELETE ON comments BEGIN SELECT raise(ABORT, 'full'); END");
  expect(() => room.removal.run()).toThrow("full");
  expect([room.removal.dueAt(), room.removal.run()]).toEqual([1_000, []]);
  storage.write("DROP TRIGGER full");
  now = 1_000;
  expect(room.removal.run().filter(({ event }) => event === "commentDeleted")).toHaveLength(21);
  expect(room.removal.dueAt()).toBeNull();
});

/** Comments as others receive them: in messages, events and the log after a change. */
function receivedAfter(seq: number, { changes }: ReturnType<typeof open>, storage: SqliteStorage): Comment[] {
  const received = [
    ...changes.takeEvents().map((event) => JSON.stringify(event)),
    ...storage.events.list(9_999).map(({ body }) => body),
    ...storage.changes.listAfter(seq).map(({ data }) => data),
  ];
  const commentOf = (text: string): Comment | undefined => {
    const { comment, data = {} } = JSON.parse(text);
    return comment ?? data.comment;
  };
  return received.flatMap((text) => commentOf(text) ?? []);
}

/** Expects nothing of an erased user but IDs of the comments. */
function expectErased(received: readonly Comment[], { userId }: Author): void {
  expect(received.length).toBeGreaterThan(0);
  for (const { user_id, ...comment } of received) {
    if (user_id === userId) expect(comment).toMatchObject({ text: "", mentions: [], reactions: {} });
    else expect(JSON.stringify(comment)).not.toContain(userId);
  }
}

test("an erasure takes comments in slices, those of deleted threads first", ({ storage }) => {
  const room = open(storage);
  const { id } = room.write(ada);
  for (let more = 0; more < 240; more += 1) room.write(more % 2 === 0 ? ben : ada, id);
  const ended = room.write(ada);
  for (let more = 0; more < 240; more += 1) {
    const [author, mentions] = more % 2 === 0 ? [ben, []] : [ada, [ben.userId]];
    const reply = room.write(author, ended.id, NO_ONE, mentions);
    room.comments.react(reply.id, "+1", true, ben.userId);
  }
  room.comments.deleteThread(ended.id);
  const { lastSeq } = room.changes;
  room.changes.takeEvents();
  for (const { seq } of storage.events.list(9_999)) storage.events.delete(seq);
  let slices = 0;
  for (let after: number | null = 0; after !== null; slices += 1) {
    const from: number = after;
    const { comments } = storage.comments.totals();
    after = room.changes.transaction(() => room.comments.eraseSome([ben.userId], from));
    expect(comments - storage.comments.totals().comments).toBeLessThanOrEqual(120);
  }
  expect(slices).toBeGreaterThan(2);
  expect(room.threads.get(id, null).comment_count).toBe(121);
  expect(JSON.stringify(storage.read("SELECT comment FROM comments"))).not.toContain(ben.userId);
  expectErased(receivedAfter(lastSeq, room, storage), ben);
});

test("a thread that is deleted between slices of an erasure is sent without who is erased", ({ storage }) => {
  const room = open(storage, {}, undefined, new Set([ben.userId]));
  const { id } = room.write(ada);
  for (let more = 0; more < 120; more += 1) {
    const [author, mentions] = more % 2 === 0 ? [ben, []] : [ada, [ben.userId]];
    room.write(author, id, NO_ONE, mentions);
  }
  const alone = room.write(ada, undefined, NO_ONE, [ben.userId]);
  const { lastSeq } = room.changes;
  room.changes.takeEvents();
  for (const { seq } of storage.events.list(9_999)) storage.events.delete(seq);
  room.comments.deleteThread(id);
  room.comments.delete(alone.id, null);
  while (room.removal.dueAt() !== null) {
    room.changes.transaction(() => room.comments.removeEnded());
  }
  expectErased(receivedAfter(lastSeq, room, storage), ben);
});

test("a thread goes on without the state of its starter, who was erased", ({ storage }) => {
  const { threads, comments, write, takeUpdates, listed } = open(storage);
  const { id } = write(ada);
  threads.subscribe(id, ada, false);
  const reply = write(ben, id);
  const states = () => [ada, ben].map(({ userId }) => storage.threads.listOfUser(userId));
  expect(states()).toEqual([
    [{ threadId: id, readSeq: 1, subscribed: false }],
    [{ threadId: id, readSeq: 2, subscribed: null }],
  ]);
  comments.delete(id, ada.userId);
  takeUpdates();
  for (const erased of [ada.subject, ada.userId]) storage.threads.deleteUser(erased);
  expect(JSON.stringify(storage.read("SELECT * FROM threads"))).not.toContain("ada");
  expect([states()[0], threads.participants(id)]).toEqual([[], [ben]]);
  expect(threads.get(id, ada)).toMatchObject({ subscribed: false, read_seq: 0, unread_count: 1 });
  expect(listed(ada, { unread: true }).total).toBe(1);
  const again = write(ada, id);
  expect(threads.participants(id)).toEqual([ada, ben]);
  expect(threads.get(id, ada)).toMatchObject({ subscribed: true, read_seq: 4, unread_count: 0 });
  expect(takeUpdates()).toMatchObject([{ type: "read" }, { commentId: again.id, to: [ben.subject] }]);
  for (const each of [reply, again]) comments.delete(each.id, null);
  expect(states()).toEqual([[], []]);
});

test("a log whose latest change names an erased user is left empty, and counts on", ({ storage }) => {
  const { changes } = open(storage);
  for (const by of ["ben", "ada"]) changes.transaction(() => changes.append("storeChanged", () => ({ by })));
  changes.transaction(() => changes.forgetUser("ada"));
  expect([storage.changes.listAfter(0), changes.since(1), changes.lastSeq]).toEqual([[], null, 2]);
  const { changes: later } = open(storage);
  expect(later.lastSeq).toBe(2);
  later.transaction(() => later.append("storeChanged", () => ({ by: "ben" })));
  later.transaction(() => later.forgetUser("ada"));
  expect(storage.changes.listAfter(0).map(({ seq }) => seq)).toEqual([3]);
});

test("lists go by the latest comment, in pages (R92)", ({ storage }) => {
  const { threads, write, listed } = open(storage);
  const ids = Array.from({ length: 5 }, () => write(ada).id);
  write(ben, ids[0]);
  const order = [0, 4, 3, 2, 1].map((index) => ids[index]);
  const pages: string[] = [];
  for (let after: { last_seq: number; id: string } | null | undefined; after !== null; ) {
    const page = threads.list({ limit: 2, offset: 0, after }, null);
    pages.push(...page.threads.map(({ id }) => id));
    after = page.next;
    expect(page.total).toBe(5);
  }
  expect(pages).toEqual(order);
  expect(listed(ada, { unread: true }).threads.map(({ id }) => id)).toEqual([ids[0]]);
  expect(listed(ben, { unread: false }).threads.map(({ id }) => id)).toEqual([ids[0]]);
});

test("a deletion reaches all shards that may know of a thread, also by an update that is on its way (R91)", ({
  storage,
}) => {
  const { comments, threads, write, takeUpdates } = open(storage);
  const { id } = write(ada, undefined, { readers: [], groups: ["team"] });
  threads.updateSettings(cleo, { threads: "all" });
  const [reply, edited] = [write(ben, id), write(ben, id)];
  takeUpdates();
  threads.updateSettings(cleo, { threads: "none" });
  storage.threads.addShards(id, ["0a member", "0b member", "0a other"]);
  comments.delete(reply.id, ben.userId);
  const removed = { type: "commentsDeleted", threadId: id, groups: [], except: [] };
  const [first] = takeUpdates() as Extract<InboxUpdate, { type: "commentsDeleted" }>[];
  expect(first).toMatchObject({ ...removed, commentIds: [reply.id] });
  expect(first?.to.toSorted()).toEqual(["0a", "0b", "ad", "be", "cl"]);
  for (let after: number | null = 0; after !== null; ) after = comments.eraseSome([ben.userId], after);
  expect(takeUpdates()).toMatchObject([{ ...removed, commentIds: [edited.id] }]);
  comments.delete(id, null);
  expect(storage.threads.shardsOf(id)).toContain("0b");
  takeUpdates();
  expect(storage.threads.shardsOf(id)).toBeNull();
});

test("what concerns users without an identity alone leaves no update, as they have no inbox", ({
  storage,
}) => {
  const { comments, threads, write, takeUpdates } = open(storage);
  const eve = { subject: "eve", userId: "eve" };
  threads.updateSettings(eve, { threads: "all" });
  const { id } = write(dan, undefined, { readers: [eve], groups: [] }, ["eve"]);
  const reply = write(eve, id);
  threads.read(id, dan);
  comments.edit(reply.id, { mentions: ["dan"] }, eve.userId, { readers: [dan], groups: [] });
  expect(threads.get(id, dan)).toMatchObject({ read_seq: 1, unread_count: 1 });
  threads.mentionInText({ mentionId: "m1", userId: "dan" }, { ...NO_ONE, readers: [dan] }, null);
  threads.unmentionInText("m1", dan);
  comments.delete(reply.id, null);
  comments.delete(id, null);
  expect(takeUpdates()).toEqual([]);
});

test("a comment with 10,000 subscribers writes a few rows, and an update of a few kilobytes", ({
  storage,
}) => {
  const { comments, threads, write } = open(storage);
  const subjects = Array.from(
    { length: 10_000 },
    (_, number) => `${String(number).padStart(5, "0")} identity`,
  );
  for (const subject of subjects) threads.updateSettings({ subject, userId: null }, { threads: "all" });
  const { id } = write(ada);
  for (const subject of subjects.slice(0, 300))
    threads.subscribe(id, { subject, userId: null }, Number(subject.slice(0, 5)) % 2 === 0);
  const expected = subjects.filter((_, number) => number >= 300 || number % 2 === 0);
  for (const [act, rows] of [
    [() => write(ben, id), 30],
    [() => comments.delete(id, null), 30],
  ] as const) {
    const before = storage.writes;
    act();
    expect(storage.writes - before).toBeLessThan(rows);
  }
  const bodies = storage.inboxUpdates.list(10).map(({ body }) => body);
  for (const body of bodies) expect(body.length).toBeLessThan(16_384);
  const comment = bodies
    .map((body) => JSON.parse(body) as InboxUpdate)
    .findLast(({ type }) => type === "comment");
  const { to, after } = comment as Extract<InboxUpdate, { type: "comment" }>;
  const found = [...to];
  for (let last = after; last !== undefined; last = found.at(-1)) {
    const part = storage.threads.subscribers(id, last, 1_000);
    found.push(...part);
    if (part.length < 1_000) break;
  }
  expect(found).toEqual([...expected, ada.subject, ben.subject]);
});

test("an edit notifies those whom it mentions besides, and reading the thread reads that (R91, R93)", ({
  storage,
}) => {
  const { changes, comments, threads, write, takeUpdates } = open(storage);
  const { id } = write(ada, undefined, { readers: [ben], groups: [] }, [ben.userId]);
  write(ada, id);
  threads.read(id, cleo);
  takeUpdates();
  const edit = (mentions: string[], readers: Author[], groups: string[] = []) =>
    comments.edit(id, { text: "Hi", mentions }, ada.userId, { readers, groups });
  expect(edit([ben.userId, cleo.userId], [ben, cleo], ["team"]).mentions).toEqual([ben.userId, cleo.userId]);
  expect(takeUpdates()).toMatchObject([
    { ...{ type: "comment", commentId: id, seq: 3, by: ada.subject }, to: [cleo.subject], groups: ["team"] },
  ]);
  expect(threads.get(id, cleo)).toMatchObject({ read_seq: 0, unread_count: 2, subscribed: true });
  threads.read(id, cleo, 2);
  expect(takeUpdates()).toMatchObject([{ type: "read", subject: cleo.subject, seq: changes.lastSeq }]);
  edit([cleo.userId], [cleo]);
  expect(takeUpdates()).toEqual([]);
  expect(() => comments.edit(id, { text: "No" }, ben.userId, NO_ONE)).toThrow("Only the author");
});

test("a reader at the end of a thread reads the mention of a group that an edit adds, once (R93)", ({
  storage,
}) => {
  const { changes, comments, threads, write, takeUpdates } = open(storage);
  const { id } = write(ada);
  for (const reader of [ben, cleo, dan]) threads.read(id, reader);
  write(ben, id);
  for (const reader of [ada, cleo, dan]) threads.read(id, reader);
  comments.edit(id, { mentions: [] }, ada.userId, { readers: [], groups: ["team"] });
  takeUpdates();
  for (let times = 0; times < 2; times += 1)
    expect(threads.read(id, cleo, 2)).toMatchObject({ read_seq: 2, unread_count: 0 });
  threads.read(id, dan);
  expect(takeUpdates()).toEqual([
    { type: "read", threadId: id, subject: cleo.subject, seq: changes.lastSeq },
  ]);
  const reply = write(ben, id);
  expect(takeUpdates()).toMatchObject([
    { type: "read", subject: ben.subject, seq: changes.lastSeq },
    { type: "comment", commentId: reply.id },
  ]);
  write(ben, id);
  expect(takeUpdates()).toMatchObject([{ type: "comment" }]);
});

test("a mention that an edit removes and a later one adds again notifies once, as a user, an identity or a group (R91)", ({
  storage,
}) => {
  const { threads, comments, write, takeUpdates } = open(storage);
  const { id } = write(ada, undefined, { readers: [ben], groups: ["team"] }, [ben.userId]);
  threads.read(id, ben);
  takeUpdates();
  const edit = (mentions: CommentCreation["mentions"], readers: Author[], groups: string[] = []) =>
    comments.edit(id, { text: "Hi", mentions }, ada.userId, { readers, groups });
  for (let times = 0; times < 2; times += 1) {
    edit([], []);
    edit([ben.userId, { kind: "group", id: "team" }], [ben], ["team"]);
    edit([], []);
    edit([{ kind: "user", id: ben.subject }], [ben]);
  }
  expect(takeUpdates()).toEqual([]);
  expect(threads.get(id, ben).unread_count).toBe(0);
  edit([cleo.userId], []); // may not read the room yet
  edit([], []);
  edit([cleo.userId], [cleo]);
  expect(takeUpdates()).toMatchObject([{ type: "comment", to: [cleo.subject] }]);
  const left = (comments: number) => expect(storage.comments.notifiedOf(id).size).toBe(comments);
  left(3);
  storage.threads.deleteUser(ben.userId);
  left(2);
  comments.delete(id, null);
  left(0);
});

test("nothing of an erased user is left, nor of its identity", ({ storage }) => {
  const { threads, write } = open(storage);
  const { id } = write(ada);
  write(ben, id);
  write(ada, id, { readers: [{ ...ben, userId: null }], groups: [] });
  threads.updateSettings(ben, { threads: "all" });
  storage.threads.deleteUser(ben.userId);
  expect(threads.participants(id)).toEqual([ada]);
  expect(threads.updateSettings(ben, {}).threads).toBe("replies_and_mentions");
});

/** A thread of the model: the seq of each comment, and the state of each reader. */
interface ModelThread {
  readonly comments: Map<string, number>;
  /** The subjects that each comment mentions, or has mentioned. */
  readonly mentions: Map<string, readonly string[]>;
  readonly read: Map<string, number>;
  readonly participants: Set<string>;
  readonly chosen: Map<string, boolean>;
}

const SETTINGS = ["all", "replies_and_mentions", "none"] as const;
const PEOPLE = [ada, ben, cleo, dan];
const hasInbox = ({ subject, userId }: Author): boolean => subject !== userId;

class Model {
  readonly threads = new Map<string, ModelThread>();
  readonly settings = new Map<string, SubscriptionSettings["threads"]>();
  /** The seq of the activities in the inbox of each person, by thread and comment; and how far they are read. */
  readonly inboxes = new Map<string, Map<string, number>>();
  readonly readInInbox = new Map<string, number>();

  /** Applies updates to the inboxes. Returns who is notified of a comment. */
  deliver(updates: readonly InboxUpdate[]): string[] {
    const inboxOf = (subject: string, threadId: string) => {
      const key = `${subject} ${threadId}`;
      const inbox = this.inboxes.get(key) ?? new Map<string, number>();
      this.inboxes.set(key, inbox);
      return inbox;
    };
    for (const update of updates) {
      if ("mentionId" in update) continue;
      const { threadId } = update;
      if (update.type === "read") this.readInInbox.set(`${update.subject} ${threadId}`, update.seq);
      else if (update.type === "comment")
        for (const each of update.to) inboxOf(each, threadId).set(update.commentId, update.seq);
      else
        for (const [key, inbox] of this.inboxes) {
          if (!update.to.includes(key.slice(0, 2)) || !key.endsWith(` ${threadId}`)) continue;
          if (update.type === "threadDeleted") inbox.clear();
          else for (const id of update.commentIds) inbox.delete(id);
        }
    }
    return updates.flatMap((update) => (update.type === "comment" ? update.to : [])).toSorted();
  }

  /** Inboxes have no comment that is gone, and no thread is unread there that its reader has read. */
  requireInboxes(): void {
    for (const [key, inbox] of this.inboxes) {
      const [subject = "", id = ""] = key.split(/ (?=[^ ]+$)/);
      const thread = this.threads.get(id);
      for (const comment of inbox.keys()) expect(thread?.comments.has(comment), key).toBe(true);
      const isRead = thread !== undefined && this.unread(id, { subject }) === 0;
      const latest = Math.max(0, ...inbox.values());
      if (isRead) expect(this.readInInbox.get(key) ?? 0, key).toBeGreaterThanOrEqual(latest);
    }
  }

  unread(id: string, { subject }: Pick<Author, "subject">): number {
    const thread = this.threads.get(id);
    const seqs = [...(thread?.comments.values() ?? [])];
    return seqs.filter((seq) => seq > (thread?.read.get(subject) ?? 0)).length;
  }

  subscribed(id: string, { subject }: Author): boolean {
    const thread = this.threads.get(id);
    const setting = this.settings.get(subject) ?? "replies_and_mentions";
    const byDefault = setting === "all" || (setting !== "none" && thread?.participants.has(subject) === true);
    return thread?.chosen.get(subject) ?? byDefault;
  }

  /** The next thread, comment or person at random. */
  static pick<Item>(random: Random, items: readonly Item[]): Item | undefined {
    return items[random(items.length)];
  }
}

test("unread comments, subscriptions and recipients equal a model's in 40 random histories", ({
  storage,
}) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    storage.clear();
    const random = randomOf(seed);
    const model = new Model();
    const { changes, threads, comments, write, takeUpdates } = open(storage);
    for (let step = 0; step < 60; step += 1) {
      const by = PEOPLE[random(4)] ?? ada;
      const [id, thread] = Model.pick(random, [...model.threads]) ?? [undefined, undefined];
      const action = random(9);
      if (action < 3 || id === undefined || thread === undefined) {
        const isReply = thread !== undefined && random(3) > 0;
        const mentioned = PEOPLE.filter(() => random(4) === 0);
        const mentions = mentioned.map(({ userId }) => userId);
        const comment = write(by, isReply ? id : undefined, { readers: mentioned, groups: [] }, mentions);
        const into = model.threads.get(comment.thread_id) ?? {
          ...{
            comments: new Map(),
            mentions: new Map(),
            read: new Map(),
            participants: new Set(),
            chosen: new Map(),
          },
        };
        into.comments.set(comment.id, changes.lastSeq);
        into.mentions.set(
          comment.id,
          mentioned.map(({ subject }) => subject),
        );
        into.read.set(by.subject, changes.lastSeq);
        for (const { subject } of [by, ...mentioned]) into.participants.add(subject);
        model.threads.set(comment.thread_id, into);
        const to = model.deliver(takeUpdates());
        const others = PEOPLE.filter((each) => each !== by && model.subscribed(comment.thread_id, each));
        expect(to).toEqual(
          others
            .filter(hasInbox)
            .map(({ subject }) => subject)
            .toSorted(),
        );
      } else if (action === 3) {
        const seq = random(changes.lastSeq + 1);
        threads.read(id, by, seq);
        const last = Math.max(...thread.comments.values());
        thread.read.set(by.subject, Math.max(thread.read.get(by.subject) ?? 0, Math.min(seq, last)));
      } else if (action === 4) {
        const on = random(2) === 0;
        threads.subscribe(id, by, on);
        thread.chosen.set(by.subject, on);
      } else if (action === 5) {
        const setting = SETTINGS[random(3)] ?? "all";
        threads.updateSettings(by, { threads: setting });
        model.settings.set(by.subject, setting);
      } else if (action === 6) {
        const [commentId = "", seq = 0] = Model.pick(random, [...thread.comments]) ?? [];
        const before = thread.mentions.get(commentId) ?? [];
        const mentioned = PEOPLE.filter(() => random(3) === 0);
        const mentions = mentioned.map(({ userId }) => userId);
        const { user_id } = comments.edit(commentId, { mentions }, null, { readers: mentioned, groups: [] });
        const further = mentioned.filter(({ subject }) => !before.includes(subject));
        for (const { subject } of further) thread.participants.add(subject);
        const notified = further.filter((each) => each.userId !== user_id && model.subscribed(id, each));
        for (const { subject } of notified)
          thread.read.set(subject, Math.min(thread.read.get(subject) ?? 0, seq - 1));
        thread.mentions.set(commentId, [...before, ...further.map(({ subject }) => subject)]);
        const inboxes = notified.filter(hasInbox).map(({ subject }) => subject);
        expect(model.deliver(takeUpdates())).toEqual(inboxes.toSorted());
      } else {
        const commentId = Model.pick(random, [...thread.comments.keys()]) ?? "";
        comments.delete(commentId, null);
        thread.comments.delete(commentId);
        if (thread.comments.size === 0) model.threads.delete(id);
      }
      model.deliver(takeUpdates());
      model.requireInboxes();
      for (const each of PEOPLE) {
        const listed = threads.list({ limit: 100, offset: 0 }, each).threads;
        expect(
          new Set(listed.map((found) => [found.id, found.unread_count, found.subscribed].join())),
        ).toEqual(
          new Set(
            [...model.threads.keys()].map((key) =>
              [key, model.unread(key, each), model.subscribed(key, each)].join(),
            ),
          ),
        );
      }
    }
  }
});
