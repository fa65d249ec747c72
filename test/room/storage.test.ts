/** The contract of the room's storage. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { CommentFilter, CommentPart } from "../../src/room/storage/sqlite-content.ts";
import type { NewChange } from "../../src/room/storage/sqlite-log.ts";
import {
  type OpenSession,
  type RoomRecord,
  type RoomStorage,
  SqliteStorage,
} from "../../src/room/storage/storage.ts";
import type { UserRecord } from "../../src/wire/user.ts";
import { ROOM } from "./support/rows.ts";
import { test } from "./support/with-storage.ts";

const RECORD: RoomRecord = {
  accountId: "account",
  roomId: "room",
  activeParticipants: 1,
  occupiedMs: 2,
  occupiedSince: 3,
  version: 4,
  copiedVersion: 3,
  lastAliveAt: 5,
};

const user = (id: string, fields: Partial<UserRecord> = {}): UserRecord => ({
  id,
  accountId: "account",
  roomId: "room",
  name: "Ada ✨",
  profilePicture: null,
  customId: null,
  role: "editor",
  createdAt: 1,
  ...fields,
});

const session = (id: string, userId: string, joinedAt = 10): OpenSession => ({
  id,
  joinedAt,
  user: user(userId),
});

describe("storage", () => {
  test("is empty at first", ({ storage }) => {
    expect(storage.readRecord()).toBeNull();
    expect(storage.listOpenSessions()).toEqual([]);
    expect(storage.listSessions("u", 100)).toEqual([]);
    expect(storage.findLastSeen(["u"])).toEqual({});
  });

  test("keeps the record as last written", ({ storage, reopen }) => {
    storage.writeRecord({ ...RECORD, occupiedSince: null, version: 3 });
    storage.writeRecord(RECORD);
    expect(reopen().readRecord()).toEqual(RECORD);
  });

  test("keeps the latest epochs, and how far each went (R79)", ({ storage, reopen }) => {
    expect(storage.epochs.latest()).toBeNull();
    storage.epochs.begin("a", 0, 2);
    storage.epochs.begin("b", 3, 2);
    expect(["a", "b", "c"].map((id) => storage.epochs.lastSeqOf(id))).toEqual([3, Infinity, null]);
    storage.epochs.begin("c", 3, 2);
    const { epochs } = reopen();
    expect(epochs.latest()).toBe("c");
    expect(["a", "b", "c"].map((id) => epochs.lastSeqOf(id))).toEqual([null, 3, Infinity]);
    expect(() => epochs.begin("c", 4, 2)).toThrow();
  });

  test("keeps an open session with its user until it ends", ({ storage, reopen }) => {
    storage.insertSession(session("s1", "u1"));
    storage.insertSession(session("s2", "u2", 11));
    expect(reopen().listOpenSessions()).toEqual([session("s1", "u1"), session("s2", "u2", 11)]);
    storage.endSession("s1", 20);
    expect(reopen().listOpenSessions()).toEqual([session("s2", "u2", 11)]);
    expect(storage.listSessions("u1", 100)).toEqual([{ id: "s1", userId: "u1", joinedAt: 10, leftAt: 20 }]);
  });

  test("updates the user of an open session only", ({ storage }) => {
    storage.insertSession(session("s1", "u1"));
    storage.insertSession(session("s2", "u2"));
    storage.updateUser(user("u1", { name: "New" }));
    storage.updateUser(user("u3", { name: "Unknown" }));
    expect(storage.listOpenSessions().map((open) => open.user.name)).toEqual(["New", "Ada ✨"]);
  });

  test("refuses a second open session of a user, and a repeated id", ({ storage }) => {
    storage.insertSession(session("s1", "u1"));
    expect(() => storage.insertSession(session("s2", "u1"))).toThrow();
    expect(() => storage.insertSession(session("s1", "u2"))).toThrow();
    expect(storage.listOpenSessions()).toHaveLength(1);
  });

  test("lists a user's sessions newest first, even within a millisecond, up to the limit", ({ storage }) => {
    for (const id of ["a", "b", "c"]) {
      storage.insertSession(session(id, "u1"));
      storage.endSession(id, 10);
    }
    storage.insertSession(session("other", "u2"));
    expect(storage.listSessions("u1", 100).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(storage.listSessions("u1", 2).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(storage.listSessions("u1", 2, "b").map(({ id }) => id)).toEqual(["a"]);
    expect(storage.listSessions("u1", 2, "gone")).toEqual([]);
  });

  test("finds for many users at once whether they are online and when they last joined", ({ storage }) => {
    storage.insertSession(session("s1", "u1", 10));
    storage.endSession("s1", 20);
    storage.insertSession(session("s2", "u1", 30));
    storage.insertSession(session("s3", "u2", 40));
    storage.endSession("s3", 50);
    const many = Array.from({ length: 500 }, (_, index) => `unknown-${index}`);
    expect(storage.findLastSeen([...many, "u1", "u2"])).toEqual({
      u1: { online: true, joinedAt: 30 },
      u2: { online: false, joinedAt: 40 },
    });
    expect(storage.listLatestStays(2)).toEqual([
      { userId: "u2", leftAt: 50 },
      { userId: "u1", leftAt: null },
    ]);
  });

  test("deletes a user's sessions", ({ storage }) => {
    storage.insertSession(session("s1", "u1"));
    storage.insertSession(session("s2", "u2"));
    storage.deleteSessions("u1");
    expect(storage.findLastSeen(["u1", "u2"])).toEqual({ u2: { online: true, joinedAt: 10 } });
  });

  test("keeps changes in order, and of those of an entry the latest", ({ storage, reopen }) => {
    const { changes } = storage;
    const nothing = { droppedSeq: 0, changes: 0, bytes: 0 };
    expect([changes.lastSeq(), [...changes.oldest()], changes.readTotals()]).toEqual([0, [], nothing]);
    const append = (
      seq: number,
      replaces: NewChange["replaces"] = null,
      deletes: NewChange["deletes"] = null,
    ) =>
      changes.append({
        ...{ seq, event: "storeChanged", data: `"${seq}"`, at: seq * 10, size: seq },
        ...{ replaces, deletes },
      });
    const address = { store: "s", key: "a" };
    const deletionOf = (store: string, key: string) => ({ deletionOf: { store, key } });
    expect([append(1), append(2, deletionOf("s", "a")), append(3, deletionOf("t", "a"))]).toEqual([
      null,
      null,
      null,
    ]);
    expect([append(4, { seq: 2 }), append(5, { seq: 2 }), append(6, { seq: 4 }, address)]).toEqual([
      2,
      null,
      4,
    ]);
    expect([append(7, deletionOf("s", "b")), append(8, deletionOf("s", "a"), address)]).toEqual([null, 6]);
    expect(() => append(8)).toThrow();
    expect(changes.listAfter(1)).toEqual(
      [3, 5, 7, 8].map((seq) => ({ seq, event: "storeChanged", data: `"${seq}"` })),
    );
    expect(reopen().changes.readTotals()).toEqual({ droppedSeq: 0, changes: 5, bytes: 24 });
    changes.drop(5);
    const reopened = reopen().changes;
    expect([...reopened.oldest()].map(({ seq, at, size }) => [seq, at, size])).toEqual([
      [7, 70, 7],
      [8, 80, 8],
    ]);
    expect([reopened.lastSeq(), reopened.readDroppedSeq()]).toEqual([8, 5]);
    expect(reopened.readTotals()).toEqual({ droppedSeq: 5, changes: 2, bytes: 15 });
  });

  test("keeps receipts by user and request id until they are deleted or expire", ({ storage, reopen }) => {
    const { receipts } = storage;
    const receipt = { userId: "u", requestId: "r", fingerprint: "f", answer: "{}" };
    expect([receipts.find("u", "r"), receipts.newest("u")]).toEqual([null, null]);
    receipts.insert({ ...receipt, number: 1, total: 2, at: 10 });
    receipts.insert({ ...receipt, requestId: "s", number: 2, total: 4, at: 20 });
    receipts.insert({ ...receipt, userId: "v", number: 1, total: 2, at: 30 });
    const again = { ...receipt, answer: "[]", number: 3, total: 6, at: 40 };
    receipts.insert(again);
    receipts.insert({ ...receipt, requestId: "t", number: 4, total: 9, at: 50 });
    expect(reopen().receipts.find("u", "r")).toEqual(again);
    expect([receipts.find("u", "x"), receipts.find("w", "r")]).toEqual([null, null]);
    for (const table of [receipts, reopen().receipts])
      expect([table.newest("u"), table.newest("v"), table.newest("w")]).toEqual([
        { number: 4, total: 9 },
        { number: 1, total: 2 },
        null,
      ]);
    const kept = () => ["r", "s", "t"].filter((id) => receipts.find("u", id) !== null);
    receipts.deleteBefore("u", { number: 2, total: 4, at: 20 });
    expect(kept()).toEqual(["r", "s", "t"]);
    receipts.deleteBefore("u", { number: 3, total: 0, at: 0 });
    expect(kept()).toEqual(["r", "t"]);
    receipts.deleteBefore("u", { number: 0, total: 7, at: 0 });
    expect(kept()).toEqual(["t"]);
    expect(receipts.find("v", "r")).not.toBeNull();
    for (const at of [30, 31]) receipts.deleteExpiredOfNext("u", at);
    expect([receipts.find("v", "r"), kept()]).toEqual([null, ["t"]]);
    receipts.deleteExpiredOfNext("u", 99); // there is no other user
    expect(kept()).toEqual(["t"]);
    receipts.deleteUser("u");
    expect([kept(), receipts.newest("u"), reopen().receipts.newest("u")]).toEqual([[], null, null]);
  });

  test("keeps entries by store and key, and the sizes of stores", ({ storage, reopen }) => {
    const { entries } = storage;
    const list = (after: string | null = null) => [...reopen().entries.scan("s", after)];
    expect([entries.find("s", "a"), list(), entries.listStores()]).toEqual([null, [], []]);
    entries.write("s", { key: "b", value: "1", version: 1 });
    entries.write("s", { key: "a", value: "2", version: 2 });
    entries.write("t", { key: "a", value: "3", version: 3 });
    entries.write("s", { key: "b", value: "4", version: 4 });
    entries.delete("s", "nothing");
    expect(list()).toEqual([
      { key: "a", value: "2", version: 2 },
      { key: "b", value: "4", version: 4 },
    ]);
    expect(list("a")).toEqual([{ key: "b", value: "4", version: 4 }]);
    expect(list("b")).toEqual([]);
    entries.delete("s", "b");
    expect(entries.find("s", "b")).toBeNull();
    expect(entries.totals()).toEqual({ stores: 0, bytes: 0 });
    entries.writeSize("t", { entries: 1, bytes: 2 });
    entries.writeSize("s", { entries: 3, bytes: 4 });
    expect(entries.listStores()).toEqual([
      { name: "s", entries: 3, bytes: 4 },
      { name: "t", entries: 1, bytes: 2 },
    ]);
    entries.writeSize("t", { entries: 0, bytes: 0 });
    expect([entries.size("t"), entries.size("s")]).toEqual([
      { entries: 0, bytes: 0 },
      { entries: 3, bytes: 4 },
    ]);
    for (const table of [entries, reopen().entries]) expect(table.totals()).toEqual({ stores: 1, bytes: 4 });
    storage.clear();
    expect([entries.totals(), entries.size("s")]).toEqual([
      { stores: 0, bytes: 0 },
      { entries: 0, bytes: 0 },
    ]);
  });

  test("has entries in the order of their keys' code points", ({ storage: { entries } }) => {
    const keys = ["\u0001", "Z", "a", "ab", "a\u{1f600}", "\ud7ff", "\ue000", "\uffff", "\u{10000}"];
    for (const key of [...keys].reverse()) entries.write("s", { key, value: "1", version: 1 });
    expect([...entries.scan("s", null)].map(({ key }) => key)).toEqual(keys);
    for (let count = 0; count < 100; count += 1)
      entries.write("many", { key: `${count + 100}`, value: `${count}`, version: 1 });
    expect([...entries.scan("many", "109")].map(({ value }) => Number(value))).toEqual(
      Array.from({ length: 90 }, (_, index) => index + 10),
    );
    for (const [index, after] of ["\ud7ff", "\ue000", "\uffff", "\u{10000}"].entries())
      expect([...entries.scan("s", after)]).toHaveLength(3 - index);
  });

  test("keeps comments as written, and finds them by thread and state", ({ storage, reopen }) => {
    const { comments } = storage;
    const all = { threadId: null, resolved: null };
    expect([comments.find("a"), comments.count(all), comments.list(all, { after: 0, limit: 9 })]).toEqual([
      null,
      0,
      [],
    ]);
    expect(comments.totals()).toEqual({ comments: 0, bytes: 0 });
    const comment = (id: string, threadId: string, resolved = false) => ({
      id,
      threadId,
      resolved,
      comment: `"${id}"`,
    });
    for (const each of [comment("b", "b"), comment("a", "b"), comment("c", "c")]) comments.insert(each);
    comments.update({ ...comment("c", "c", true), comment: "7" });
    expect(reopen().comments.find("c")).toMatchObject({ ...comment("c", "c", true), comment: "7" });
    const idsOf = (filter: CommentFilter, part: CommentPart) =>
      comments.list(filter, part).map(({ id }) => id);
    expect(idsOf(all, { after: 0, limit: 2, offset: 1 })).toEqual(["a", "c"]);
    expect(idsOf({ threadId: "b", resolved: null }, { after: 0, limit: 9 })).toEqual(["b", "a"]);
    expect(["b", "a", "c"].map((id) => comments.hasThread(id))).toEqual([true, false, true]);
    expect(comments.count({ threadId: "b", resolved: true })).toBe(0);
    const [first] = comments.list(all, { after: 0, limit: 1 });
    const behind = (filter: CommentFilter) =>
      comments.list(filter, { after: first?.position ?? 0, limit: 1 });
    expect(behind(all)).toMatchObject([{ ...comment("a", "b") }]);
    expect(behind({ threadId: null, resolved: true })).toMatchObject([{ id: "c", comment: "7" }]);
    expect(comments.count({ threadId: null, resolved: false })).toBe(2);
    expect(comments.totals()).toEqual({ comments: 3, bytes: 7 });
    comments.update({ ...comment("c", "c", true), comment: '"é"' });
    comments.delete("b");
    expect(comments.count(all)).toBe(2);
    expect(behind(all)).toMatchObject([{ id: "a" }]);
    expect(reopen().comments.totals()).toEqual({ comments: 2, bytes: 7 });
  });

  test("never gives the number of a document or comment again: a reader may know it", ({
    storage,
    reopen,
  }) => {
    const comment = (id: string) => ({ id, threadId: id, resolved: false, comment: "1" });
    const filter = { threadId: null, resolved: null };
    const positions = (from: RoomStorage) =>
      from.comments.list(filter, { after: 0, limit: 9 }).map(({ position }) => position);
    for (const id of ["a", "b", "c"]) storage.comments.insert(comment(id));
    for (const id of ["c", "a"]) storage.comments.delete(id);
    const first = storage.documents.insert("notes", 1);
    storage.documents.delete(first.id);
    const again = reopen();
    again.comments.insert(comment("d"));
    expect(positions(again)).toEqual([2, 4]);
    for (const id of ["b", "d"]) again.comments.delete(id);
    again.comments.insert(comment("e"));
    expect(positions(again)).toEqual([5]);
    expect(again.documents.insert("notes", 1).id).toBe(first.id + 1);
    expect(() =>
      again.transaction(() => {
        again.comments.delete("e");
        throw new Error("on purpose");
      }),
    ).toThrow("on purpose");
    again.comments.insert(comment("f"));
    expect(positions(again)).toEqual([5, 6]);
  });

  test("keeps who follows whom, earliest first", ({ storage, reopen }) => {
    const { follows } = storage;
    expect([follows.list(null), follows.has("a", "b")]).toEqual([[], false]);
    follows.insert("a", "c");
    follows.insert("a", "b");
    follows.insert("b", "a");
    expect(() => follows.insert("a", "b")).toThrow();
    expect(reopen().follows.listFollowed("a")).toEqual(["c", "b"]);
    expect(follows.listOf(["b", "a", "none"])).toEqual([
      ["a", "c"],
      ["a", "b"],
      ["b", "a"],
    ]);
    follows.delete("a", "c");
    expect([follows.has("a", "b"), follows.has("a", "c")]).toEqual([true, false]);
    follows.insert("b", "c");
    follows.deleteUser("a");
    expect(follows.list(null)).toEqual([["b", "c"]]);
  });

  test("undoes a transaction that throws, even the very first write", ({ storage, reopen }) => {
    const failing = (work: () => void) => () =>
      storage.transaction(() => {
        work();
        throw new Error("on purpose");
      });
    expect(failing(() => storage.writeRecord(RECORD))).toThrow("on purpose");
    expect(reopen().readRecord()).toBeNull();
    expect(storage.readRecord()).toBeNull();

    storage.transaction(() => {
      storage.writeRecord(RECORD);
      storage.insertSession(session("s1", "u1"));
    });
    const event = "storeChanged";
    const deletes = { store: "s", key: "k" };
    const change = (seq: number) =>
      ({ seq, event, data: "1", at: 1, size: 1, replaces: null, deletes }) as const;
    const work = failing(() => {
      storage.endSession("s1", 20);
      storage.insertSession(session("s2", "u2"));
      storage.updateUser(user("u2", { name: "New" }));
      storage.deleteSessions("u1");
      storage.changes.append({ ...change(2), replaces: { seq: 1 } });
      storage.changes.drop(1);
      const receipt = { userId: "u", requestId: "r", fingerprint: "f", answer: "{}" };
      storage.receipts.insert({ ...receipt, number: 1, total: 1, at: 1 });
      storage.entries.write("s", { key: "k", value: "1", version: 1 });
      storage.entries.writeSize("s", { entries: 1, bytes: 1 });
      storage.comments.insert({ id: "c", threadId: "c", resolved: false, comment: "{}" });
      storage.follows.insert("a", "b");
      storage.events.append({ id: "e", event: "session.closed", occurredAt: 1, body: "{}" });
      storage.changedStores.note({ store: "s", fromSeq: 1, cause: null });
      storage.documentNotes.note({ event: "document.created", document: "d", seq: 1, name: null });
      storage.occupancy.begin("session");
      storage.clear();
      storage.writeRecord({ ...RECORD, version: 9 });
    });
    storage.changes.append(change(1));
    expect(work).toThrow("on purpose");
    expect(storage.changes.readTotals()).toEqual({ droppedSeq: 0, changes: 1, bytes: 1 });
    expect([storage.receipts.find("u", "r"), storage.receipts.newest("u")]).toEqual([null, null]);
    expect([
      storage.changes.lastSeq(),
      [...storage.entries.scan("s", null)],
      storage.entries.listStores(),
    ]).toEqual([1, [], []]);
    expect(storage.entries.totals()).toEqual({ stores: 0, bytes: 0 });
    expect([storage.comments.find("c"), storage.follows.list(null)]).toEqual([null, []]);
    expect([storage.events.list(9), storage.occupancy.readId()]).toEqual([[], null]);
    expect([storage.changedStores.list(), storage.documentNotes.list()]).toEqual([[], []]);
    expect(reopen().readRecord()).toEqual(RECORD);
    expect(storage.listOpenSessions()).toEqual([session("s1", "u1")]);
  });

  test("keeps the stores that have changed, each with its first change, until they are cleared", ({
    storage,
    reopen,
  }) => {
    expect(storage.changedStores.list()).toEqual([]);
    for (const [store, fromSeq] of [
      ["b", 1],
      ["a", 2],
      ["b", 3],
    ] as const)
      storage.changedStores.note({ store, fromSeq, cause: null });
    const { changedStores } = reopen();
    expect(changedStores.list()).toEqual([
      { store: "a", fromSeq: 2, cause: null },
      { store: "b", fromSeq: 1, cause: null },
    ]);
    changedStores.clear();
    expect(reopen().changedStores.list()).toEqual([]);
  });

  test("keeps what happened to documents in order, of updates the first, until it is deleted", ({
    storage,
    reopen,
  }) => {
    const note = (event: "document.created" | "document.updated", document: string, seq: number) =>
      storage.documentNotes.note({ event, document, seq, name: null });
    expect(storage.documentNotes.list()).toEqual([]);
    note("document.created", "a", 1);
    note("document.updated", "a", 2);
    note("document.updated", "a", 3);
    note("document.updated", "b", 4);
    note("document.created", "a", 1);
    const { documentNotes } = reopen();
    const left = () => documentNotes.list().map(({ event, document, seq }) => [event, document, seq]);
    documentNotes.delete(documentNotes.list()[0]?.position ?? 0);
    documentNotes.deleteUpdate("b");
    expect(left()).toEqual([
      ["document.updated", "a", 2],
      ["document.created", "a", 1],
    ]);
    documentNotes.clear();
    expect(left()).toEqual([]);
  });

  test("keeps the lowest cause of a store's changes while workflows alone have made them", ({
    storage,
    reopen,
  }) => {
    const causeOf = (depth: number) => (depth === 0 ? null : { workflowId: `w${depth}`, depth });
    const noted = (depths: readonly number[]) => {
      const { changedStores } = reopen();
      for (const depth of depths) changedStores.note({ store: "s", fromSeq: 1, cause: causeOf(depth) });
      const causes = reopen()
        .changedStores.list()
        .map(({ cause }) => cause);
      changedStores.clear();
      return causes;
    };
    storage.changedStores.note({ store: "other", fromSeq: 1, cause: causeOf(2) });
    storage.changedStores.note({ store: "s", fromSeq: 1, cause: causeOf(4) });
    expect(noted([])).toEqual([causeOf(2), causeOf(4)]);
    expect(noted([3, 2, 5])).toEqual([causeOf(2)]);
    expect(noted([1, 0])).toEqual([null]);
    expect(noted([0, 1])).toEqual([null]);
    expect(noted([2, 2])).toEqual([causeOf(2)]);
  });

  test("keeps events in order, with the subscriptions they have yet to reach, until they are deleted", ({
    storage,
    reopen,
  }) => {
    const event = (id: string) => ({ id, event: "participant.joined", occurredAt: 7, body: "{}" }) as const;
    expect(storage.events.list(9)).toEqual([]);
    for (const id of ["e1", "e2", "e3"]) storage.events.append(event(id));
    const [first, second] = storage.events.list(2);
    expect([first, second]).toEqual([
      { ...event("e1"), seq: first?.seq, pendingSubscriptions: null, trace: null },
      { ...event("e2"), seq: second?.seq, pendingSubscriptions: null, trace: null },
    ]);
    storage.events.delete(first?.seq ?? 0);
    storage.events.writePendingSubscriptions(second?.seq ?? 0, "[1]");
    expect(
      reopen()
        .events.list(9)
        .map(({ id, pendingSubscriptions }) => [id, pendingSubscriptions]),
    ).toEqual([
      ["e2", "[1]"],
      ["e3", null],
    ]);
  });

  test("keeps the participants of the occupancy period in the order of their first joins", ({
    storage,
    reopen,
  }) => {
    const { occupancy } = storage;
    expect([occupancy.readId(), occupancy.readRoom(), occupancy.list()]).toEqual([null, null, []]);
    occupancy.begin("session");
    occupancy.put({ user: user("u1"), joinedAt: 1 });
    occupancy.put({ user: user("u2"), joinedAt: 2 });
    occupancy.put({ user: user("u1"), joinedAt: 3 });
    occupancy.update(user("u2", { name: "New" }));
    occupancy.update(user("u3"));
    occupancy.writeRoom(ROOM);
    occupancy.writeRoom({ ...ROOM, name: "Renamed" });
    const reopened = reopen().occupancy;
    expect([reopened.readId(), reopened.readRoom()]).toEqual(["session", { ...ROOM, name: "Renamed" }]);
    expect(reopened.list()).toEqual([
      { user: user("u1"), joinedAt: 3 },
      { user: user("u2", { name: "New" }), joinedAt: 2 },
    ]);
    occupancy.end();
    expect([occupancy.readId(), occupancy.list()]).toEqual([null, []]);
    expect(occupancy.readRoom()).toEqual({ ...ROOM, name: "Renamed" });
  });

  test("returns what a transaction returns", ({ storage }) => {
    expect(storage.transaction(() => 7)).toBe(7);
  });

  test("is empty after it is cleared, and can be filled again", ({ storage, reopen }) => {
    storage.clear();
    storage.writeRecord(RECORD);
    storage.insertSession(session("s1", "u1"));
    storage.clear();
    expect(reopen().readRecord()).toBeNull();
    expect(storage.listOpenSessions()).toEqual([]);
    storage.insertSession(session("s1", "u1"));
    expect(reopen().listOpenSessions()).toEqual([session("s1", "u1")]);
  });
});

test("SQLite adds the tables that a room lacks", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, { storage }) => {
    new SqliteStorage(storage).insertSession(session("s1", "u1"));
    for (const table of [
      "changes",
      "dropped_changes",
      "receipts",
      "entries",
      "stores",
      "comments",
      "comment_totals",
      "follows",
      "documents",
      "document_updates",
      "document_parts",
      "events",
      "participants",
      "facts",
    ])
      storage.sql.exec(`DROP TABLE ${table}`);
    const reopened = new SqliteStorage(storage);
    expect(reopened.changes.lastSeq()).toBe(0);
    reopened.follows.insert("a", "b");
    expect(reopened.listOpenSessions()).toHaveLength(1);
  }));

test("SQLite has no tables before the first write, nor after it is cleared (R31)", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, { storage }) => {
    const tables = () =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('room', 'sessions')").toArray();
    const sqlite = new SqliteStorage(storage);
    sqlite.findLastSeen(["u"]);
    sqlite.transaction(() => sqlite.readRecord());
    expect(tables()).toEqual([]);
    sqlite.writeRecord(RECORD);
    expect(tables()).toHaveLength(2);
    sqlite.clear();
    expect(tables()).toEqual([]);
  }));
