/** Guarantees of the room's storage beyond what the room shows. */

import { DEFAULT_SETTINGS } from "@atrium/contract/resources/thread.ts";
import { describe, expect } from "vitest";
import { NO_STATE } from "../../src/room/storage/sqlite-threads.ts";
import type { OpenSession, RoomRecord, RoomStorage } from "../../src/room/storage/storage.ts";
import { userRecord } from "./support/rows.ts";
import { test } from "./support/with-storage.ts";

type NewChange = Parameters<RoomStorage["changes"]["append"]>[0];

const RECORD: RoomRecord = {
  accountId: "account",
  roomId: "room",
  activeParticipants: 1,
  occupiedMs: 2,
  occupiedSince: 3,
  version: 4,
  copiedVersion: 3,
  lastAliveAt: 5,
  sessionId: "session",
};

const session = (id: string, userId: string, joinedAt = 10): OpenSession => ({
  id,
  joinedAt,
  user: userRecord(userId),
});

describe("storage", () => {
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

  test("refuses a second open session of a user, and a repeated id", ({ storage }) => {
    storage.insertSession(session("s1", "u1"));
    expect(() => storage.insertSession(session("s2", "u1"))).toThrow();
    expect(storage.listOpenSessions()).toHaveLength(1);
  });

  test("lists a user's sessions newest first, even within a millisecond, up to the limit", ({ storage }) => {
    for (const id of ["a", "b", "c"]) {
      storage.insertSession(session(id, "u1"));
      storage.endSession("u1", 10);
    }
    storage.insertSession(session("other", "u2"));
    expect(storage.listSessions("u1", 100).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(storage.listSessions("u1", 2).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(storage.listSessions("u1", 2, "b").map(({ id }) => id)).toEqual(["a"]);
    expect(storage.listSessions("u1", 2, "gone")).toEqual([]);
  });

  test("finds for many users at once whether they are online and when they last joined", ({ storage }) => {
    storage.insertSession(session("s1", "u1", 10));
    storage.endSession("u1", 20);
    storage.insertSession(session("s2", "u1", 30));
    storage.insertSession(session("s3", "u2", 40));
    storage.endSession("u2", 50);
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

  test("keeps changes in order, and of those of an entry the latest", ({ storage, reopen }) => {
    const { changes } = storage;
    const nothing = { droppedSeq: 0, changes: 0, bytes: 0, keepsEvery: false };
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
    expect(reopen().changes.readTotals()).toEqual({
      droppedSeq: 0,
      changes: 5,
      bytes: 24,
      keepsEvery: false,
    });
    changes.drop(5);
    const reopened = reopen().changes;
    expect([...reopened.oldest()].map(({ seq, at, size }) => [seq, at, size])).toEqual([
      [7, 70, 7],
      [8, 80, 8],
    ]);
    expect([reopened.lastSeq(), reopened.readDroppedSeq()]).toEqual([8, 5]);
    expect(reopened.readTotals()).toEqual({ droppedSeq: 5, changes: 2, bytes: 15, keepsEvery: false });
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

  test("counts comments and their bytes as they are created, changed and deleted", ({ storage }) => {
    const { comments } = storage;
    const comment = (id: string, text: string) => ({
      ...{ id, threadId: id, resolved: false, seq: 1 },
      comment: text,
    });
    for (const id of ["a", "b"]) comments.insert(comment(id, `"${id}"`));
    comments.update(comment("b", '"é!"'));
    expect(comments.totals()).toEqual({ comments: 2, bytes: 8 });
    comments.delete("a");
    expect(comments.totals()).toEqual({ comments: 1, bytes: 5 });
  });

  test("never gives the number of a document or comment again: a reader may know it", ({
    storage,
    reopen,
  }) => {
    const comment = (id: string) => ({ id, threadId: id, resolved: false, seq: 1, comment: "1" });
    const positions = (from: RoomStorage) =>
      from.comments.list({}, { after: 0, limit: 9 }).map(({ position }) => position);
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

  test("keeps a participant's place in the occupancy period, and the latest join", ({ storage }) => {
    const { occupancy } = storage;
    for (const [id, joinedAt] of [
      ["u1", 1],
      ["u2", 2],
      ["u1", 3],
    ] as const)
      occupancy.put({ user: userRecord(id), joinedAt }, joinedAt);
    expect(occupancy.list().map(({ user: { id }, joinedAt }) => [id, joinedAt])).toEqual([
      ["u1", 3],
      ["u2", 2],
    ]);
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
      storage.endSession("u1", 20);
      storage.insertSession(session("s2", "u2"));
      storage.updateUser(userRecord("u2", { name: "New" }));
      storage.deleteSessions("u1");
      storage.changes.append({ ...change(2), replaces: { seq: 1 } });
      storage.changes.drop(1);
      const receipt = { userId: "u", requestId: "r", fingerprint: "f", answer: "{}" };
      storage.receipts.insert({ ...receipt, number: 1, total: 1, at: 1 });
      storage.entries.write("s", { key: "k", value: "1", version: 1 });
      storage.entries.writeSize("s", { entries: 1, bytes: 1 });
      storage.comments.insert({ id: "c", threadId: "c", resolved: false, seq: 1, comment: "{}" });
      storage.threads.writeState("c", { subject: "u", userId: "u" }, { ...NO_STATE, readSeq: 1 });
      storage.threads.writeSettings({ subject: "u", userId: "u" }, DEFAULT_SETTINGS);
      storage.inboxUpdates.append("n", "{}");
      storage.follows.insert("a", "b");
      storage.events.append({ id: "e", event: "session.closed", occurredAt: 1, body: "{}" });
      storage.changedStores.note({ store: "s", fromSeq: 1, cause: null });
      storage.documentNotes.note({ event: "document.created", document: "d", seq: 1, name: null });
      storage.occupancy.put({ user: userRecord("u1"), joinedAt: 1 }, 1);
      storage.clear();
      storage.writeRecord({ ...RECORD, version: 9 });
    });
    storage.changes.append(change(1));
    expect(work).toThrow("on purpose");
    expect(storage.changes.readTotals()).toEqual({ droppedSeq: 0, changes: 1, bytes: 1, keepsEvery: false });
    expect([storage.receipts.find("u", "r"), storage.receipts.newest("u")]).toEqual([null, null]);
    expect([
      storage.changes.lastSeq(),
      [...storage.entries.scan("s", null)],
      storage.entries.listStores(),
    ]).toEqual([1, [], []]);
    expect(storage.entries.totals()).toEqual({ stores: 0, bytes: 0 });
    expect([storage.comments.find("c"), storage.follows.list(10)]).toEqual([null, []]);
    expect([storage.events.list(9), storage.occupancy.list()]).toEqual([[], []]);
    expect([storage.changedStores.list(), storage.documentNotes.list()]).toEqual([[], []]);
    expect(reopen().readRecord()).toEqual(RECORD);
    expect(storage.listOpenSessions()).toEqual([session("s1", "u1")]);
  });

  test("knows no store and no session once its tables are erased, and begins again", ({
    storage,
    reopen,
  }) => {
    storage.entries.writeSize("s", { entries: 3, bytes: 4 });
    storage.entries.writeSize("t", { entries: 1, bytes: 2 });
    storage.entries.writeSize("t", { entries: 0, bytes: 0 });
    expect(storage.entries.totals()).toEqual({ stores: 1, bytes: 4 });
    storage.insertSession(session("s1", "u1"));
    storage.clear();
    expect(storage.entries.totals()).toEqual({ stores: 0, bytes: 0 });
    expect(storage.entries.size("s")).toEqual({ entries: 0, bytes: 0 });
    expect(storage.listOpenSessions()).toEqual([]);
    storage.insertSession(session("s1", "u1"));
    expect(reopen().listOpenSessions()).toEqual([session("s1", "u1")]);
  });
});
